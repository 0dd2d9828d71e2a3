import type { Logger } from 'pino';
import { createActor } from 'xstate';
import { latestChanges } from '../../actors/chain/chainReads.ts';
import { type IndexerState, indexerMachine } from '../../machines/indexerMachine.ts';
import { sleep } from '../jetstream/connection.ts';
import type { BlockHeader } from './blockProof.ts';
import { type ChainReader, expectParent } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import { type PublishedBlock, PublishedMeanwhile, type SpanPublisher } from './spanPublisher.ts';

/** The newest blocks come one a span, so that the safe block's hash and time are known (MESSAGES.md, Chain span). */
const singleBlocks = 64n;
const firstRetryMs = 500;
/** Between two attempts: near the tip views go stale meanwhile, far behind a provider is given time. */
const longestRetryNearMs = 5_000;
const longestRetryFarMs = 30_000;
const readsRetryMsByDefault = 60_000;

export interface IndexerStatus {
  readonly state: IndexerState;
  /** Last published block; null before the first. */
  readonly head: bigint | null;
  /** The node's newest block as last seen; null before it was. */
  readonly tip: bigint | null;
  readonly reorganizations: number;
  readonly providerFailures: number;
  /** Times that another indexer had published first. */
  readonly lostRaces: number;
}

export interface Indexer {
  /** Indexes until the signal is aborted; rejects only for a fault of this program. */
  run(signal: AbortSignal): Promise<void>;
  status(): IndexerStatus;
}

export interface IndexerDependencies {
  readonly reader: ChainReader;
  readonly publisher: SpanPublisher;
  readonly chainId: bigint;
  /** First block that is indexed. */
  readonly deploymentBlock: bigint;
  /** Publishes once more from this block on, or from one before it, in the place of what the stream has told of it. */
  readonly repairFrom?: bigint | null;
  /** Address of the timelock, which may be older than the deployment. */
  readonly timelock: string;
  readonly logger: Logger;
  readonly pollMs?: number;
  /** Between two attempts after failures, at most. */
  readonly longestRetryMs?: number;
  /** Until what the timelock logged before the first block is asked for again. */
  readonly readsRetryMs?: number;
  /** Called with the last published and the newest block, while catching up. */
  readonly onProgress?: (head: bigint, tip: bigint) => void;
}

/** Reads a chain from a node and publishes it as spans, each proven by the headers before it is. */
export function createIndexer(parts: IndexerDependencies): Indexer {
  const { reader, publisher, chainId, deploymentBlock, timelock, logger, pollMs = 1_000, onProgress } = parts;
  const { longestRetryMs = longestRetryFarMs, readsRetryMs = readsRetryMsByDefault } = parts;
  const machine = createActor(indexerMachine).start();
  const counts = { reorganizations: 0, providerFailures: 0, lostRaces: 0 };
  let tip: bigint | null = null;
  /** Null once something is published in the place of what was wrong. */
  let { repairFrom = null } = parts;
  let hasReads = false;
  let nextReadsMs = 0;
  let lagReported = false;

  async function run(signal: AbortSignal) {
    let failures = 0;
    let isResumed = false;
    while (!signal.aborted) {
      try {
        if (!isResumed) await connect();
        isResumed = true;
        await publishReads();
        const hasMore = await step(signal);
        if (failures > 0) logger.info({ failures }, 'the node answers again');
        failures = 0;
        if (!hasMore) await sleep(pollMs, signal);
      } catch (error) {
        isResumed = false;
        if (signal.aborted) break;
        machine.send({ type: 'failed' });
        if (error instanceof PublishedMeanwhile) {
          counts.lostRaces++;
          logger.info({ err: error }, 'the stream is read back before more is published');
        } else {
          counts.providerFailures++;
          if (failures === 0) logger.warn({ err: error }, 'the chain cannot be read; retrying');
        }
        const head = publisher.published().at(-1)?.number ?? null;
        const retryMs = Math.min(retryAfterMs(failures, head, tip), longestRetryMs);
        failures++;
        await sleep(retryMs * (0.5 + Math.random() / 2), signal);
        machine.send({ type: 'retried' });
      }
    }
    machine.send({ type: 'stopped' });
  }

  async function connect() {
    const given = await reader.chainId();
    if (given !== chainId) {
      throw new ProviderInconsistent(`the node is of chain ${given}, the deployment is on chain ${chainId}`);
    }
    await publisher.resume();
    if (repairFrom === null) return;
    const isOnChain = async ({ number, hash }: PublishedBlock) => (await reader.header(number)).hash === hash;
    if (repairFrom <= deploymentBlock) publisher.forkAt(deploymentBlock - 1n);
    else await publisher.rewind(repairFrom, isOnChain);
    const fromBlock = (publisher.published().at(-1)?.number ?? deploymentBlock - 1n) + 1n;
    logger.warn({ fromBlock: String(fromBlock), fork: publisher.forks }, 'the chain is published once more');
  }

  /**
   * Publishes once what the timelock logged before the first block that is indexed. Where the node does not tell, the blocks are
   * indexed nevertheless, and it is asked again later.
   */
  async function publishReads() {
    // The first block of a chain, the genesis, has no logs.
    if (hasReads || deploymentBlock <= 1n || performance.now() < nextReadsMs) return;
    nextReadsMs = performance.now() + readsRetryMs;
    try {
      const { number, hash } = await reader.header(deploymentBlock - 1n);
      if ((await publisher.readsHash()) !== hash) {
        const proposers = latestChanges(await reader.proposerChangesBefore(timelock, deploymentBlock));
        await publisher.publishReads({ blockNumber: number.toString(), blockHash: hash, proposers });
      }
      hasReads = true;
    } catch (error) {
      logger.warn({ err: error }, 'what the timelock logged before the deployment block cannot be read yet');
    }
  }

  /** Publishes what there is to publish next. True when more may be there already. */
  async function step(signal: AbortSignal): Promise<boolean> {
    const newest = await reader.tip();
    tip = newest.number;
    const head = publisher.published().at(-1) ?? null;
    if (head === null) {
      if (newest.number < deploymentBlock) return false;
      const first = await reader.header(deploymentBlock);
      await publishFrom(first, newest, signal);
      return true;
    }
    if (newest.number < head.number) return waitForNode(newest.number, head.number);
    lagReported = false;
    if (newest.number === head.number) {
      // Another block of the same height is no longer chain: nothing is given up for it.
      machine.send({ type: 'atTip' });
      return false;
    }
    const next = await reader.header(head.number + 1n);
    if (next.parentHash !== head.hash) return reorganize(newest, signal);
    await publishFrom(next, newest, signal);
    return true;
  }

  /** The node lags, restarts or syncs: no reorganization, and nothing to do but wait. */
  function waitForNode(nodeTip: bigint, head: bigint): false {
    machine.send({ type: 'nodeBehind' });
    if (!lagReported) {
      logger.warn(
        { nodeTip: String(nodeTip), head: String(head) },
        'the node is behind what is published; waiting for it',
      );
    }
    lagReported = true;
    return false;
  }

  /** Publishes from a block whose parent is the last published one, through the node's newest. */
  async function publishFrom(first: BlockHeader, newest: BlockHeader, signal: AbortSignal) {
    let next = first;
    while (!signal.aborted) {
      const isFar = newest.number - next.number >= singleBlocks;
      machine.send({ type: isFar ? 'farBehind' : 'atTip' });
      const last = isFar ? await publishRange(next, newest.number - singleBlocks) : await publishBlock(next);
      if (newest.number > first.number + singleBlocks) onProgress?.(last.number, newest.number);
      if (last.number >= newest.number) return;
      next = await reader.header(last.number + 1n);
      if (next.parentHash !== last.hash) return; // A fork appeared; the next step finds it.
    }
  }

  async function publishBlock(header: BlockHeader): Promise<BlockHeader> {
    const block = await reader.block(header);
    await publisher.publish({
      fromBlock: header.number,
      parentHash: header.parentHash,
      last: header,
      blocks: block.logs.length === 0 ? [] : [block],
      headerAt: reader.header,
    });
    repairFrom = null;
    return header;
  }

  async function publishRange(first: BlockHeader, limit: bigint): Promise<BlockHeader> {
    const { last, blocks } = await reader.range(first, limit);
    await publisher.publish({
      fromBlock: first.number,
      parentHash: first.parentHash,
      last,
      blocks,
      headerAt: reader.header,
    });
    repairFrom = null;
    return last;
  }

  /** The node has a longer chain that does not hold the last published block: follows it once it is proven. */
  async function reorganize(newest: BlockHeader, signal: AbortSignal): Promise<boolean> {
    machine.send({ type: 'forkFound' });
    const published = publisher.published();
    let fork = published.length - 1;
    while (fork >= 0) {
      const { number, hash } = published[fork] as PublishedBlock;
      if ((await reader.header(number)).hash === hash) break;
      fork--;
    }
    const common = published[fork];
    if (common === undefined) {
      throw new ProviderInconsistent(
        `none of the last ${published.length} published blocks is on the node's chain: is it the same chain?`,
      );
    }
    const branch = await provenBranch(common, newest);
    const depth = Number((published.at(-1)?.number ?? 0n) - common.number);
    counts.reorganizations++;
    logger.warn(
      { forkBlock: String(common.number), depth, tip: String(newest.number) },
      'the chain was reorganized',
    );
    publisher.forkAt(common.number);
    machine.send({ type: 'forkPublished' });
    for (const header of branch) {
      if (signal.aborted) return false;
      await publishBlock(header);
    }
    return true;
  }

  /** Headers above the common block through the newest, each naming the one before it as its parent. */
  async function provenBranch(common: PublishedBlock, newest: BlockHeader): Promise<BlockHeader[]> {
    const branch: BlockHeader[] = [];
    let parent: PublishedBlock = common;
    for (let number = common.number + 1n; number <= newest.number; number++) {
      const header = await reader.header(number);
      expectParent(header, parent);
      branch.push(header);
      parent = header;
    }
    if (parent.hash !== newest.hash)
      throw new ProviderInconsistent('the newest block was replaced while its branch was read');
    return branch;
  }

  return {
    run,
    status: () => ({
      ...counts,
      tip,
      state: machine.getSnapshot().value,
      head: publisher.published().at(-1)?.number ?? null,
    }),
  };
}

/** How long to wait after so many failures in a row, at most. What is not known to be far behind the tip is near it. */
export function retryAfterMs(failures: number, head: bigint | null, tip: bigint | null): number {
  const isFar = tip !== null && (head === null || tip - head > singleBlocks);
  return Math.min(firstRetryMs * 2 ** failures, isFar ? longestRetryFarMs : longestRetryNearMs);
}
