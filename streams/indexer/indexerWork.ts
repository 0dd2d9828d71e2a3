import type { Logger } from 'pino';
import { concatMap, defer, EMPTY, expand, filter, forkJoin, from, map, type Observable } from 'rxjs';
import { latestChanges } from '../../actors/chain/chainReads.ts';
import type { ChainBlock } from '../../actors/chain/chainSpan.ts';
import type { Address } from '../../actors/schemas/hex.ts';
import { type Comparison, type HeadMoved, singleBlocks } from '../../machines/indexerMachine.ts';
import type { BlockHeader } from './blockProof.ts';
import type { ChainReader } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import { findCommonBlock, readBranch } from './readBranch.ts';
import type { PublishedBlock, SpanPublisher } from './spanPublisher.ts';

export interface IndexerWorkOptions {
  readonly reader: ChainReader;
  readonly publisher: SpanPublisher;
  readonly chainId: bigint;
  /** First block that is indexed. */
  readonly deploymentBlock: bigint;
  /** Republishes from this block on, or from one before it, replacing what the stream holds; null for none. */
  readonly repairFrom?: bigint | null;
  /** Address of the timelock, which may be older than the deployment. */
  readonly timelock: Address;
  readonly logger: Logger;
}

/** What the indexer's machine invokes. Once cancelled it starts no more publications; `whenIdle` awaits the one in progress. */
export interface IndexerWork {
  askNode(): Promise<void>;
  resume(): Promise<bigint | null>;
  publishReads(): Promise<void>;
  compare(): Promise<Comparison>;
  publishRanges(): Observable<HeadMoved>;
  publishBlocks(): Observable<HeadMoved>;
  proveBranch(): Promise<bigint>;
  publishBranch(): Observable<HeadMoved>;
  whenIdle(): Promise<void>;
}

/** Consecutive blocks far behind the tip, of which `blocks` are those that hold logs. */
interface BlockRange {
  readonly first: BlockHeader;
  readonly last: BlockHeader;
  readonly blocks: readonly ChainBlock[];
}

/** A range was published while the next one was read. */
interface RangeStep {
  /** Its last block; null at the first step. */
  readonly published: bigint | null;
  /** Null after the last range. */
  readonly read: BlockRange | null;
}

export function createIndexerWork(options: IndexerWorkOptions): IndexerWork {
  const { reader, publisher, chainId, deploymentBlock, timelock, logger } = options;
  /** Null once the first replacement is published. */
  let { repairFrom = null } = options;
  /** What the last comparison found: the block after the last published one, and the node's newest. */
  let ahead: { readonly next: BlockHeader; readonly newest: BlockHeader } | null = null;
  /** The proven blocks that replace published ones. */
  let branch: readonly BlockHeader[] = [];
  let publishing: Promise<void> = Promise.resolve();

  async function askNode() {
    const answered = await reader.chainId();
    if (answered !== chainId)
      throw new ProviderInconsistent(
        `the node is of chain ${answered}, the deployment is on chain ${chainId}`,
      );
  }

  async function resume() {
    await publisher.resume();
    if (repairFrom !== null) await rewindTo(repairFrom);
    return findHead(publisher)?.number ?? null;
  }

  async function rewindTo(block: bigint) {
    const isOnChain = async ({ number, hash }: PublishedBlock) => (await reader.header(number)).hash === hash;
    if (block <= deploymentBlock) publisher.forkAt(deploymentBlock - 1n);
    else await publisher.rewind(block, isOnChain);
    const fromBlock = (findHead(publisher)?.number ?? deploymentBlock - 1n) + 1n;
    logger.warn({ fromBlock: String(fromBlock), fork: publisher.forks }, 'the chain is published again');
  }

  async function publishReads() {
    try {
      const { number, hash } = await reader.header(deploymentBlock - 1n);
      if ((await publisher.readsHash()) === hash) return;
      const proposers = latestChanges(await reader.proposerChangesBefore(timelock, deploymentBlock));
      await publisher.publishReads({ blockNumber: number.toString(), blockHash: hash, proposers });
    } catch (error) {
      logger.warn({ err: error }, 'the logs of the timelock before the deployment block cannot be read yet');
      throw error;
    }
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

  function blocksAhead() {
    if (ahead === null) throw new Error('blocks are published that no comparison has found');
    return ahead;
  }

  /** The next range is read while one is published, so at most two are in memory. */
  function publishRanges() {
    const { next, newest } = blocksAhead();
    const limit = newest.number - singleBlocks;
    const readRange = async (first: BlockHeader): Promise<BlockRange> => ({
      first,
      ...(await reader.range(first, limit)),
    });
    const readAfter = async ({ last }: BlockRange): Promise<BlockRange | null> => {
      if (last.number >= limit) return null;
      const first = await headerAfter(last);
      return first === null ? null : readRange(first);
    };
    return defer(() => readRange(next)).pipe(
      map((read): RangeStep => ({ published: null, read })),
      expand(({ read }) =>
        read === null ? EMPTY : forkJoin({ published: publishRange(read), read: readAfter(read) }),
      ),
      map(({ published }) => published),
      filter((head) => head !== null),
      map(toHeadMoved),
    );
  }

  /** From the compared block, or after the last published range. */
  function publishBlocks() {
    const { next, newest } = blocksAhead();
    const head = findHead(publisher);
    const first$ = head === null || head.number < next.number ? publishBlock(next) : publishBlockAfter(head);
    return first$.pipe(
      expand((before) => (before.number >= newest.number ? EMPTY : publishBlockAfter(before))),
      map(({ number }) => toHeadMoved(number)),
    );
  }

  function publishBlockAfter(before: PublishedBlock): Observable<BlockHeader> {
    return defer(() => headerAfter(before)).pipe(
      concatMap((header) => (header === null ? EMPTY : publishBlock(header))),
    );
  }

  /** Null if a fork has appeared; the next comparison finds it. */
  async function headerAfter(before: PublishedBlock): Promise<BlockHeader | null> {
    const header = await reader.header(before.number + 1n);
    return header.parentHash === before.hash ? header : null;
  }

  function publishBlock(header: BlockHeader): Observable<BlockHeader> {
    return defer(() => reader.block(header)).pipe(
      concatMap((block) =>
        publish({ first: header, last: header, blocks: block.logs.length === 0 ? [] : [block] }),
      ),
      map(() => header),
    );
  }

  function publishRange(range: BlockRange): Observable<bigint> {
    return publish(range).pipe(map(() => range.last.number));
  }

  function publish({ first, last, blocks }: BlockRange): Observable<void> {
    return defer(() => {
      const { number: fromBlock, parentHash } = first;
      publishing = publisher
        .publish({ fromBlock, parentHash, last, blocks, headerAt: reader.header })
        .then(() => {
          repairFrom = null;
        });
      return publishing;
    });
  }

  /** The node has a longer chain without the last published block: it is followed once it is proven. */
  async function proveBranch() {
    const { newest } = blocksAhead();
    const common = await findCommonBlock(reader, publisher.published());
    branch = await readBranch(reader, common, newest);
    const depth = Number((findHead(publisher)?.number ?? 0n) - common.number);
    logger.warn(
      { forkBlock: String(common.number), depth, tip: String(newest.number) },
      'the chain was reorganized',
    );
    publisher.forkAt(common.number);
    return common.number;
  }

  return {
    askNode,
    resume,
    publishReads,
    compare,
    publishRanges,
    publishBlocks,
    proveBranch,
    publishBranch: () =>
      from(branch).pipe(
        concatMap(publishBlock),
        map(({ number }) => toHeadMoved(number)),
      ),
    whenIdle: () => publishing.catch(() => undefined),
  };
}

function findHead(publisher: SpanPublisher): PublishedBlock | null {
  return publisher.published().at(-1) ?? null;
}

function toHeadMoved(head: bigint): HeadMoved {
  return { type: 'headMoved', head };
}
