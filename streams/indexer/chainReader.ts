import type { Hex } from 'viem';
import { z } from 'zod';
import type { ChainBlock } from '../../actors/chain/spans/chainSpan.ts';
import type { Address } from '../../actors/schemas/hex.ts';
import { type BlockHeader, type ProvenLog, proveLogs } from './blockProof.ts';
import { createHeaderReader, headersAtOnceMax } from './headerReader.ts';
import { createBloomTest } from './logsBloom.ts';
import { mapConcurrently } from './mapConcurrently.ts';
import { createNodeClients, isRefusal } from './nodeClient.ts';
import { createProposerSearch } from './proposerSearch.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import { createReceiptReader } from './receiptReader.ts';

const defaultRequestMs = 10_000;
/** Blocks whose receipts are requested at the same time; the receipts of a full block take some megabytes. */
const blocksAtOnce = 16;
/** Blocks that one call of `range` reads: a few spans, so that progress is published often. */
const rangeBlocks = 1_024n;

interface ChainReaderSettings {
  readonly url: string;
  readonly addresses: readonly Address[];
  /** A request that takes longer than this has failed. */
  readonly requestMs?: number;
}

export type ChainReader = ReturnType<typeof createChainReader>;

/**
 * Reads a node's chain. No answer of the node is trusted: headers must hash to their hashes and name each other as parents. The logs of a
 * block come from receipts that match the root in its header. Also rejects with viem's errors.
 */
export function createChainReader(settings: ChainReaderSettings) {
  const { url, addresses, requestMs = defaultRequestMs } = settings;
  const clients = createNodeClients({ url, requestMs, batchSize: headersAtOnceMax });
  const { client } = clients;
  const headers = createHeaderReader(clients);
  const receipts = createReceiptReader(client);
  const ours = new Set<Hex>(addresses);
  const mayHoldOurs = createBloomTest(addresses);

  /** All logs of the contracts in one block. */
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

  async function readBlocks(candidates: readonly BlockHeader[]): Promise<ChainBlock[]> {
    const claiming = candidates.filter(({ logsBloom }) => mayHoldOurs(logsBloom));
    return (await mapConcurrently(claiming, blocksAtOnce, block)).filter(({ logs }) => logs.length > 0);
  }

  /** Blocks with logs from `first` through `last`, which may be lower than `toBlock`. */
  async function range(first: BlockHeader, toBlock: bigint) {
    const end = first.number + rangeBlocks - 1n;
    const to = end < toBlock ? end : toBlock;
    const blocks: ChainBlock[] = await readBlocks([first]);
    let last = first;
    while (last.number < to) {
      const next = await headers.readAfter(last, to);
      blocks.push(...(await readBlocks(next)));
      last = next.at(-1) as BlockHeader;
    }
    return { last, blocks };
  }

  /**
   * Reads the headers after a block through the newest.
   *
   * @throws ProviderInconsistent when a header does not name its predecessor as its parent.
   */
  async function proveBranch(common: Pick<BlockHeader, 'number' | 'hash'>, newest: BlockHeader) {
    let last = common;
    while (last.number < newest.number)
      last = (await headers.readAfter(last, newest.number)).at(-1) as BlockHeader;
    if (last.hash !== newest.hash)
      throw new ProviderInconsistent('the newest block was replaced while its branch was read');
  }

  /**
   * Whether the node proves that it has the logs of a block. A block without logs proves nothing.
   *
   * @throws ProviderInconsistent when it has them no longer.
   */
  async function provesLogs(number: bigint): Promise<boolean> {
    const header = await headers.read(number);
    if (/^0x0*$/.test(header.logsBloom)) return false;
    try {
      await proveLogs(header, await receipts.read(header));
      return true;
    } catch (error) {
      if (!(error instanceof ProviderInconsistent || isRefusal(error))) throw error;
      throw new ProviderInconsistent(
        `the node of MINER_RPC_URL proves no logs of block ${number}: it may have removed old ones`,
        { cause: error },
      );
    }
  }

  return {
    chainId: async () => BigInt(z.string().parse(await client.request({ method: 'eth_chainId' }))),
    tip: headers.newest,
    /** @throws ProviderInconsistent when the node does not have the block. */
    header: headers.read,
    block,
    range,
    proveBranch,
    searchProposers: (timelock: Address, beforeBlock: bigint) =>
      createProposerSearch({
        client,
        timelock,
        beforeBlock,
        readBlocks: async (numbers) => readBlocks(await mapConcurrently(numbers, blocksAtOnce, headers.read)),
        provesLogs,
      }),
  };
}
