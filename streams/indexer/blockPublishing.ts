import type { ChainBlock } from '../../actors/chain/spans/chainSpan.ts';
import { isSafelyBelow } from '../../actors/chain/spans/confirmations.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { singleBlocks } from '../../machines/indexerMachine.ts';
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

/** Reads blocks and publishes them in order. Once cancelled, it starts no more publications; `whenIdle` awaits the last one. */
export function createBlockPublishing(options: {
  readonly reader: ChainReader;
  readonly witness: Pick<ChainReader, 'header'> | null;
  readonly publisher: SpanPublisher;
  readonly onPublished: () => void;
}) {
  const { reader, witness, publisher, onPublished } = options;
  let publishing: Promise<void> = Promise.resolve();

  async function publish({ first, last, blocks: withLogs }: BlockRange, signal: AbortSignal) {
    await expectAgreement(first, last);
    signal.throwIfAborted();
    const { number: fromBlock, parentHash } = first;
    publishing = publisher
      .publish({ fromBlock, parentHash, last, blocks: withLogs, headerAt: reader.header })
      .then(onPublished);
    await publishing;
  }

  /**
   * Publishes spans of many blocks, from the next block up to the newest ones, which `blocks` publishes. The next range is read while one is
   * published, so at most two are in memory.
   */
  async function ranges({ next, newest }: BlocksAhead, signal: AbortSignal) {
    const limit = newest.number - singleBlocks;
    const readRange = async (first: BlockHeader): Promise<BlockRange> => ({
      first,
      ...(await reader.range(first, limit)),
    });
    const readAfter = async ({ last }: BlockRange): Promise<BlockRange | null> => {
      const first = last.number < limit ? await headerAfter(last) : null;
      return first === null ? null : readRange(first);
    };
    let range: BlockRange | null = await readRange(next);
    while (range !== null) {
      const following = readAfter(range);
      following.catch(() => undefined); // Reported below: after an error, nothing may still be published.
      await publish(range, signal);
      range = await following;
    }
  }

  /** Publishes one span per block, from the next block or the end of the last range through the newest. */
  async function blocks({ next, newest }: BlocksAhead, signal: AbortSignal) {
    const head = publisher.published().at(-1);
    let header = head === undefined || head.number < next.number ? next : await headerAfter(head);
    while (header !== null) {
      const block = await reader.block(header);
      const withLogs = block.logs.length === 0 ? [] : [block];
      await publish({ first: header, last: header, blocks: withLogs }, signal);
      header = header.number < newest.number ? await headerAfter(header) : null;
    }
  }

  /** Null if a fork has appeared; the next comparison finds it. */
  async function headerAfter(before: PublishedBlock): Promise<BlockHeader | null> {
    const header = await reader.header(before.number + 1n);
    return header.parentHash === before.hash ? header : null;
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
    whenIdle: (): Promise<void> => publishing.catch(() => undefined),
  };
}
