import type { Hex } from 'viem';
import { http, toEventSelector, webSocket } from 'viem';
import { z } from 'zod';
import { type ProposerChange, proposerRole } from '../../actors/chain/chainReads.ts';
import type { ChainBlock } from '../../actors/chain/chainSpan.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { type BlockHeader, type ProvenLog, proveHeader, proveLogs } from './blockProof.ts';
import type { ChainProofs } from './chainProofs.ts';
import { createLogSearch } from './logSearch.ts';
import { createBloomTest } from './logsBloom.ts';
import { mapConcurrently } from './mapConcurrently.ts';
import { createNodeClient, type NodeClient, toQuantity } from './nodeClient.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import { createReceiptReader } from './receiptReader.ts';

const defaultRequestMs = 10_000;
/** Headers that are requested at the same time, over HTTP in one batch; fewer while the provider refuses that many. */
const headersAtOnceMax = 64;
/** Blocks whose receipts are requested at the same time; those of a full block take some megabytes. */
const blocksAtOnce = 16;
/** Blocks that one call of `range` reads when it proves every block: a few spans, so that progress is published often. */
const provenRangeBlocks = 1_024n;

/**
 * A node's chain. No answer of the node is trusted: headers must hash to their hashes and name each other as parents, and the logs
 * of a block must be those of the receipts whose root is in its header. Also rejects with viem's errors.
 */
export interface ChainReader {
  chainId(): Promise<bigint>;
  tip(): Promise<BlockHeader>;
  /** @throws ProviderInconsistent when the node does not have it. */
  header(number: bigint): Promise<BlockHeader>;
  /** All logs of the contracts in one block. */
  block(header: BlockHeader): Promise<ChainBlock>;
  /**
   * Changes of a timelock's proposers before a block, oldest first. The node names the blocks, and each one is proven;
   * unlike in indexed blocks, it goes unnoticed if the node omits one.
   */
  proposerChangesBefore(timelock: Address, block: bigint): Promise<ProposerChange[]>;
  /** Blocks with logs from `first` through `last`, which is at most `toBlock` and may be an earlier one. */
  range(
    first: BlockHeader,
    toBlock: bigint,
  ): Promise<{ readonly last: BlockHeader; readonly blocks: readonly ChainBlock[] }>;
}

export interface ChainReaderSettings {
  /** `http(s)` or `ws(s)`. */
  readonly url: string;
  readonly addresses: readonly Address[];
  readonly proofs: ChainProofs;
  /** A request that takes longer than this has failed. */
  readonly requestMs?: number;
}

const roleGranted = toEventSelector('RoleGranted(bytes32,address,address)');
const roleRevoked = toEventSelector('RoleRevoked(bytes32,address,address)');

export function createChainReader(settings: ChainReaderSettings): ChainReader {
  const { url, addresses, proofs, requestMs = defaultRequestMs } = settings;
  const transportSettings = { timeout: requestMs, retryCount: 0 };
  const transport = url.startsWith('ws') ? webSocket(url, transportSettings) : http(url, transportSettings);
  const client = createNodeClient(transport);
  const batching = url.startsWith('ws')
    ? transport
    : http(url, { ...transportSettings, batch: { batchSize: headersAtOnceMax } });
  const batchingClient = createNodeClient(batching);
  const receipts = createReceiptReader(client);
  const logSearch = createLogSearch(client);
  const ours = new Set<Hex>(addresses);
  const mayHoldOurs = createBloomTest(addresses);
  let headersAtOnce = headersAtOnceMax;

  const header = (number: bigint) => readHeader(client, number);

  async function readHeader(from: NodeClient, number: bigint): Promise<BlockHeader> {
    const answer = await from.request({
      method: 'eth_getBlockByNumber',
      params: [toQuantity(number), false],
    });
    if (answer === null) throw new ProviderInconsistent(`the node has no block ${number}`);
    const proven = proveHeader(answer);
    if (proven.number !== number)
      throw new ProviderInconsistent(`block ${number} was requested, the node returned ${proven.number}`);
    return proven;
  }

  async function block(of: BlockHeader): Promise<ChainBlock> {
    const { number, hash, timestampMs } = of;
    const nothing = { number, hash, timestampMs, logs: [] };
    if (!mayHoldOurs(of.logsBloom)) return nothing;
    const proven: ProvenLog[] = await proveLogs(of, await receipts.read(of));
    const logs = proven.filter(({ address }) => ours.has(address));
    if (logs.length === 0) return nothing;
    const hashes = await receipts.transactionHashes(of);
    return {
      ...nothing,
      logs: logs.map((log) => {
        const transactionHash = hashes[log.transactionIndex];
        if (transactionHash === undefined)
          throw new ProviderInconsistent(`block ${number} has receipts of more transactions than it holds`);
        return { ...log, transactionHash };
      }),
    };
  }

  async function readEveryBlock(first: BlockHeader, toBlock: bigint) {
    const to = min(first.number + provenRangeBlocks - 1n, toBlock);
    const blocks: ChainBlock[] = await readBlocks([first]);
    let last = first;
    while (last.number < to) {
      const headers = await readHeadersAfter(last, to);
      blocks.push(...(await readBlocks(headers)));
      last = headers.at(-1) as BlockHeader;
    }
    return { last, blocks };
  }

  /** The next headers after a block, each naming the one before it as its parent. */
  async function readHeadersAfter(before: BlockHeader, to: bigint): Promise<BlockHeader[]> {
    const count = Math.min(headersAtOnce, Number(to - before.number));
    const numbers = Array.from({ length: count }, (_, index) => before.number + 1n + BigInt(index));
    // A single request is not batched, so every provider understands it.
    const from = count === 1 ? client : batchingClient;
    try {
      const headers = await mapConcurrently(numbers, count, (number) => readHeader(from, number));
      for (const [index, one] of headers.entries()) expectParent(one, headers[index - 1] ?? before);
      return headers;
    } catch (error) {
      if (error instanceof ProviderInconsistent) throw error;
      // Even a single request was refused: the provider is unavailable, and the size of the batch was not the reason.
      headersAtOnce = count === 1 ? headersAtOnceMax : Math.ceil(count / 4);
      if (count === 1) throw error;
      return readHeadersAfter(before, to);
    }
  }

  /** The blocks that hold logs of the contracts. */
  async function readBlocks(headers: readonly BlockHeader[]): Promise<ChainBlock[]> {
    const claiming = headers.filter(({ logsBloom }) => mayHoldOurs(logsBloom));
    return (await mapConcurrently(claiming, blocksAtOnce, block)).filter(({ logs }) => logs.length > 0);
  }

  async function readBlocksNamedByLogs(first: BlockHeader, toBlock: bigint) {
    const { numbers, toBlock: last } = await logSearch.findBlocks(first.number, toBlock, {
      address: addresses,
    });
    const blocks = await readBlocks(await mapConcurrently(numbers, blocksAtOnce, header));
    const lastHeader = await header(last);
    // The blocks are of one branch only if the first one is still on the chain.
    if ((await header(first.number)).hash !== first.hash)
      throw new ProviderInconsistent(`block ${first.number} was replaced while it was read`);
    return { last: lastHeader, blocks };
  }

  async function proposerChangesBefore(timelock: Address, before: bigint): Promise<ProposerChange[]> {
    const changes: ProposerChange[] = [];
    for (let next = 0n; next < before; ) {
      const named = await logSearch.findBlocks(next, before - 1n, {
        address: [timelock],
        topics: [[roleGranted, roleRevoked], [proposerRole]],
      });
      const headers = await mapConcurrently(named.numbers, blocksAtOnce, header);
      for (const { logs } of await readBlocks(headers)) {
        for (const { address, topics } of logs) {
          const [event = '', role, account = ''] = topics;
          const isChange = address === timelock && role === proposerRole;
          if (!isChange || (event !== roleGranted && event !== roleRevoked)) continue;
          changes.push({ account: toAddress(`0x${account.slice(-40)}`), isGranted: event === roleGranted });
        }
      }
      next = named.toBlock + 1n;
    }
    return changes;
  }

  return {
    chainId: async () => BigInt(z.string().parse(await client.request({ method: 'eth_chainId' }))),
    tip: async () =>
      proveHeader(await client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })),
    header,
    block,
    proposerChangesBefore,
    range: proofs === 'all' ? readEveryBlock : readBlocksNamedByLogs,
  };
}

/** @throws ProviderInconsistent */
export function expectParent(of: BlockHeader, before: Pick<BlockHeader, 'number' | 'hash'>): void {
  if (of.parentHash === before.hash) return;
  throw new ProviderInconsistent(`block ${of.number} does not name block ${before.number} as its parent`);
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
