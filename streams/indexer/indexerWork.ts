import type { Logger } from 'pino';
import type { Address } from '../../actors/schemas/hex.ts';
import type { Comparison } from '../../machines/indexerMachine.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { type BlocksAhead, createBlockPublishing } from './blockPublishing.ts';
import type { ChainReader } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import type { PublishedBlock, SpanPublisher } from './spanPublisher.ts';

/** Blocks in which a deployment creates its contracts. */
const deploymentBlocksMax = 10_000n;

export interface IndexerWorkOptions {
  readonly reader: ChainReader;
  /** A second node. No block becomes safe before both have it. Null to believe the first alone. */
  readonly witness?: Pick<ChainReader, 'header'> | null;
  readonly publisher: SpanPublisher;
  readonly chainId: bigint;
  readonly deploymentBlock: bigint;
  /** Republishes from this block or an earlier one, replacing the stream's spans; null to publish only new blocks. */
  readonly repairFrom?: bigint | null;
  /** Address of the timelock, which may be older than the deployment. */
  readonly timelock: Address;
  readonly logger: Logger;
  readonly onPublished?: () => void;
}

/** The actors of the indexer's machine. Once cancelled, they start no more publications; `whenIdle` awaits the last one. */
export function createIndexerWork(options: IndexerWorkOptions) {
  const { reader, witness = null, publisher, chainId, deploymentBlock, timelock, logger } = options;
  /** Null once the first replacement is published. */
  let { repairFrom = null } = options;
  /** Result of the last comparison. */
  let ahead: BlocksAhead | null = null;
  const publishing = createBlockPublishing({
    reader,
    witness,
    publisher,
    onPublished: () => {
      repairFrom = null;
      options.onPublished?.();
    },
  });

  async function askNode() {
    const answered = await reader.chainId();
    if (answered !== chainId)
      throw new ProviderInconsistent(
        `the node serves chain ${answered}, but the deployment is on chain ${chainId}`,
      );
  }

  async function resume() {
    await publisher.resume();
    if (repairFrom !== null) await rewindTo(repairFrom);
  }

  async function rewindTo(block: bigint) {
    if (block <= deploymentBlock) publisher.forkAt(deploymentBlock - 1n);
    else await publisher.rewind(block, isOnChain);
    const fromBlock = (findHead(publisher)?.number ?? deploymentBlock - 1n) + 1n;
    logger.warn(
      { fromBlock: String(fromBlock), fork: publisher.forks },
      'blocks are published again, from `fromBlock` on',
    );
  }

  /** Continues where the stream's newest reads end, and publishes each progress. */
  async function publishReads({ signal }: { readonly signal: AbortSignal }) {
    try {
      const { number, hash: blockHash } = await reader.header(deploymentBlock - 1n);
      const search = reader.searchProposers(timelock, deploymentBlock);
      while (!signal.aborted) {
        const known = await publisher.reads(blockHash);
        if (known?.fromBlock === '0') return;
        const found = await search(
          known === null || known.fromBlock === null
            ? { fromBlock: await findSearchEnd(), proposers: [] }
            : { fromBlock: BigInt(known.fromBlock), proposers: known.proposers },
        );
        await publisher.publishReads({
          blockNumber: number.toString(),
          blockHash,
          fromBlock: found.fromBlock.toString(),
          proposers: [...found.proposers],
        });
      }
    } catch (error) {
      logger.warn({ err: error }, 'the timelock’s proposers before the deployment block are not known yet');
      throw error;
    }
  }

  /** The timelock may also have been created with the deployment, so the search begins a little above its first block. */
  async function findSearchEnd(): Promise<bigint> {
    const { number } = await reader.tip();
    const end = deploymentBlock + deploymentBlocksMax;
    return number < end ? number + 1n : end;
  }

  async function compare(): Promise<Comparison> {
    const newest = await reader.tip();
    const head = findHead(publisher);
    const nextNumber = head === null ? deploymentBlock : head.number + 1n;
    const heights = { head: head?.number ?? null, tip: newest.number };
    if (newest.number < nextNumber) return { ...heights, isFork: false };
    const next = await reader.header(nextNumber);
    ahead = { next, newest };
    return { ...heights, isFork: head !== null && next.parentHash !== head.hash };
  }

  function requireAhead(): BlocksAhead {
    return requireValue(ahead, 'what the last comparison found');
  }

  /**
   * Finds the newest published block on the node's chain.
   *
   * @throws ProviderInconsistent when no published block is on it.
   */
  async function findCommonBlock(): Promise<PublishedBlock> {
    const published = publisher.published();
    for (const known of published.toReversed()) if (await isOnChain(known)) return known;
    throw new ProviderInconsistent(
      `none of the last ${published.length} published blocks is on the node's chain: is it the same chain?`,
    );
  }

  async function isOnChain({ number, hash }: PublishedBlock): Promise<boolean> {
    return (await reader.header(number)).hash === hash;
  }

  /** The node has a longer chain without the last published block: it is followed once it is proven, from the last common block on. */
  async function proveBranch() {
    const { newest } = requireAhead();
    const common = await findCommonBlock();
    await reader.proveBranch(common, newest);
    const depth = Number((findHead(publisher)?.number ?? 0n) - common.number);
    logger.warn(
      { forkBlock: String(common.number), depth, tip: String(newest.number) },
      'the chain was reorganized',
    );
    publisher.forkAt(common.number);
  }

  return {
    askNode,
    resume,
    publishReads,
    compare,
    publishRanges: ({ signal }: { readonly signal: AbortSignal }) =>
      publishing.ranges(requireAhead(), signal),
    publishBlocks: ({ signal }: { readonly signal: AbortSignal }) =>
      publishing.blocks(requireAhead(), signal),
    proveBranch,
    whenIdle: publishing.whenIdle,
    reconnected: publisher.reconnected,
  };
}

function findHead(publisher: SpanPublisher): PublishedBlock | null {
  return publisher.published().at(-1) ?? null;
}
