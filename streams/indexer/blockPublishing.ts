import { concatMap, defer, EMPTY, expand, filter, forkJoin, from, map, type Observable } from 'rxjs';
import type { ChainBlock } from '../../actors/chain/spans/chainSpan.ts';
import { isSafelyBelow } from '../../actors/chain/spans/confirmations.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { type HeadMoved, singleBlocks } from '../../machines/indexerMachine.ts';
import type { BlockHeader } from './blockProof.ts';
import type { ChainReader } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import type { PublishedBlock, SpanPublisher } from './spanPublisher.ts';

/** The node's block after the last published one, and its newest. */
export interface BlocksAhead {
  readonly next: BlockHeader;
  readonly newest: BlockHeader;
}

/** Consecutive blocks far behind the tip; `blocks` hold logs. */
interface BlockRange {
  readonly first: BlockHeader;
  readonly last: BlockHeader;
  readonly blocks: readonly ChainBlock[];
}

/** One range is published while the next one is read. */
interface RangeStep {
  /** Its last block; null at the first step. */
  readonly published: bigint | null;
  /** Null after the last range. */
  readonly read: BlockRange | null;
}

/**
 * Reads blocks, publishes them in order, and emits the last published one each time. After unsubscription it starts no more
 * publications; `whenIdle` awaits the last one.
 */
export function createBlockPublishing(options: {
  readonly reader: ChainReader;
  readonly witness: Pick<ChainReader, 'header'> | null;
  readonly publisher: SpanPublisher;
  readonly onPublished: () => void;
}) {
  const { reader, witness, publisher, onPublished } = options;
  let publishing: Promise<void> = Promise.resolve();

  /**
   * Publishes spans of many blocks, from the next block up to the newest ones, which `blocks` publishes. The next range is read while one is
   * published, so at most two are in memory.
   */
  function ranges({ next, newest }: BlocksAhead): Observable<HeadMoved> {
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
        read === null
          ? EMPTY
          : forkJoin({ published: publish(read).pipe(map(() => read.last.number)), read: readAfter(read) }),
      ),
      map(({ published }) => published),
      filter((head) => head !== null),
      map(toHeadMoved),
    );
  }

  /** Publishes one span per block, from the next block or the end of the last range through the newest. */
  function blocks({ next, newest }: BlocksAhead): Observable<HeadMoved> {
    const head = publisher.published().at(-1);
    const first$ =
      head === undefined || head.number < next.number ? publishBlock(next) : publishBlockAfter(head);
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

  function publish({ first, last, blocks: withLogs }: BlockRange): Observable<void> {
    const { number: fromBlock, parentHash } = first;
    return defer(() => expectAgreement(first, last)).pipe(
      concatMap(() => {
        publishing = publisher
          .publish({ fromBlock, parentHash, last, blocks: withLogs, headerAt: reader.header })
          .then(onPublished);
        return publishing;
      }),
    );
  }

  /** Compares the two nodes at the newest block that becomes safe once `last` is published, or at the end of a range. */
  async function expectAgreement(first: BlockHeader, last: BlockHeader): Promise<void> {
    const known = first === last ? publisher.published() : [last];
    const safe = known.findLast(({ number }) => first !== last || isSafelyBelow(number, last.number));
    if (witness === null || safe === undefined) return;
    const { hash } = await witness.header(safe.number).catch((error: unknown) => {
      const why = `the second node of MINER_RPC_URL does not confirm block ${safe.number}`;
      throw new ProviderInconsistent(`${why}: ${readErrorMessage(error)}`, { cause: error });
    });
    if (hash !== safe.hash)
      throw new ProviderInconsistent(
        `the two nodes of MINER_RPC_URL differ: block ${safe.number} is ${safe.hash} at the first, and ${hash} at the second`,
      );
  }

  return {
    ranges,
    blocks,
    /** Publishes one span per block of a proven branch. */
    branch: (headers: readonly BlockHeader[]) =>
      from(headers).pipe(
        concatMap(publishBlock),
        map(({ number }) => toHeadMoved(number)),
      ),
    whenIdle: (): Promise<void> => publishing.catch(() => undefined),
  };
}

function toHeadMoved(head: bigint): HeadMoved {
  return { type: 'headMoved', head };
}
