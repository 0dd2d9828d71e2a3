import { type Hex, TimeoutError, toEventSelector } from 'viem';
import { z } from 'zod';
import { latestChanges, type ProposerChange, proposerRole } from '../../actors/chain/spans/chainReads.ts';
import type { ChainBlock, ChainLog } from '../../actors/chain/spans/chainSpan.ts';
import { type Address, toAddress, zeroHash } from '../../actors/schemas/hex.ts';
import { isRefusal, type NodeClient, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';

/** Maximum number of blocks in one request: fewer after a refusal, then slowly more. */
const rangeBlocksMax = 10_000n;
/** Requests after which a search returns its progress, so that a restart continues there. */
const requestsMax = 16;

const roleGranted = toEventSelector('RoleGranted(bytes32,address,address)');
const roleRevoked = toEventSelector('RoleRevoked(bytes32,address,address)');

/** Roles that administer a timelock: before OpenZeppelin 5 the second, `TIMELOCK_ADMIN_ROLE`. */
const adminRoles: readonly string[] = [
  zeroHash,
  '0x5f58e3a2316349923ce3780f8d587db2d72378aed66a8261c916544fa6846ca5',
];

const namedBlocks = z.array(
  z.object({
    blockNumber: z
      .string()
      .regex(/^0x[0-9a-f]{1,16}$/)
      .transform(BigInt),
  }),
);

/** Result of a search so far. */
interface FoundProposers {
  /** First block searched; 0 once the creation of the timelock is found, before which it has no logs. */
  readonly fromBlock: bigint;
  /** Latest change of each account, oldest first. */
  readonly proposers: readonly ProposerChange[];
}

interface SearchOptions {
  readonly client: NodeClient;
  readonly timelock: Address;
  /** Only changes in blocks before this one are returned. */
  readonly beforeBlock: bigint;
  /** Reads blocks, proven, without the blocks that hold no logs of the contracts. */
  readonly readBlocks: (numbers: readonly bigint[]) => Promise<ChainBlock[]>;
  /** Resolves with whether the node proves that it has the logs of a block; rejects if it has lost them. */
  readonly provesLogs: (number: bigint) => Promise<boolean>;
}

/**
 * Searches for changes of a timelock's proposers, from newer blocks to older ones, until the timelock's creation. The node names the blocks,
 * and each one is proven; unlike in indexed blocks, it goes unnoticed if the node omits one. An answer without logs counts only if the node
 * proves that it still has logs of that age, since many nodes have removed old ones and say nothing.
 */
export function createProposerSearch(options: SearchOptions) {
  const { client, timelock, beforeBlock, readBlocks, provesLogs } = options;
  let rangeBlocks = rangeBlocksMax;

  /** Searches the blocks before `block`, as many as the node answers for at once. */
  async function findBlocksBefore(block: bigint) {
    const fromBlock = block > rangeBlocks ? block - rangeBlocks : 0n;
    const toBlock = block - 1n;
    const filter = {
      address: [timelock],
      topics: [[roleGranted, roleRevoked]],
      fromBlock: toQuantity(fromBlock),
      toBlock: toQuantity(toBlock),
    };
    try {
      const answer = await client.request({ method: 'eth_getLogs', params: [filter] });
      const numbers = parseBlockNumbers(answer, fromBlock, toBlock);
      const more = rangeBlocks + rangeBlocks / 4n + 1n;
      rangeBlocks = more < rangeBlocksMax ? more : rangeBlocksMax;
      return { numbers, fromBlock };
    } catch (error) {
      if (toBlock === fromBlock || !(isRefusal(error) || error instanceof TimeoutError)) throw error;
      rangeBlocks = (block - fromBlock) / 2n;
      return findBlocksBefore(block);
    }
  }

  /**
   * Continues a search. Progress that would show all known proposers as revoked is not returned, since an older one may still have the role.
   *
   * @throws ProviderInconsistent when the node's logs end before the timelock's creation.
   */
  return async ({ fromBlock: searched, proposers: known }: FoundProposers): Promise<FoundProposers> => {
    let fromBlock = searched;
    let proposers = known;
    for (let requests = 1; fromBlock > 0n; requests++) {
      const named = await findBlocksBefore(fromBlock);
      const blocks = await readBlocks(named.numbers);
      fromBlock = named.fromBlock;
      const changes = blocks
        .filter(({ number }) => number < beforeBlock)
        .flatMap(({ logs }) => logs.flatMap((log) => listProposerChanges(log, timelock)));
      proposers = latestChanges([...changes, ...proposers]);
      if (blocks.some(({ logs }) => logs.some((log) => isCreation(log, timelock))))
        return { fromBlock: 0n, proposers };
      const isShowable = proposers.length === 0 || proposers.some(({ isGranted }) => isGranted);
      if (requests % requestsMax === 0 && (await provesLogs(fromBlock)) && isShowable)
        return { fromBlock, proposers };
    }
    throw new ProviderInconsistent(
      `the node of MINER_RPC_URL has no logs of the creation of the timelock ${timelock}: it may have removed them. Set it to a node with the logs of all blocks`,
    );
  };
}

/**
 * Distinct block numbers of the logs, ascending.
 *
 * @throws ProviderInconsistent
 */
function parseBlockNumbers(answer: unknown, fromBlock: bigint, toBlock: bigint): bigint[] {
  const named = namedBlocks.safeParse(answer);
  if (!named.success)
    throw new ProviderInconsistent(`a log of blocks ${fromBlock} to ${toBlock} names no block`);
  const numbers = [...new Set(named.data.map(({ blockNumber }) => blockNumber))];
  if (numbers.some((number) => number < fromBlock || number > toBlock))
    throw new ProviderInconsistent(
      `the logs of blocks ${fromBlock} to ${toBlock} include a log of another block`,
    );
  return numbers.sort((a, b) => (a < b ? -1 : 1));
}

function listProposerChanges({ address, topics }: ChainLog, timelock: Address): ProposerChange[] {
  const [event, role, account] = topics;
  const isGranted = event === roleGranted;
  if (address !== timelock || role !== proposerRole || (!isGranted && event !== roleRevoked)) return [];
  return [{ account: readAccount(account), isGranted }];
}

/** OpenZeppelin's TimelockController makes itself its administrator when it is created. */
function isCreation({ address, topics }: ChainLog, timelock: Address): boolean {
  const [event, role = '', account] = topics;
  return (
    address === timelock &&
    event === roleGranted &&
    adminRoles.includes(role) &&
    readAccount(account) === timelock
  );
}

function readAccount(topic: Hex = '0x'): Address {
  return toAddress(`0x${topic.slice(-40)}`);
}
