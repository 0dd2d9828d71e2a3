import { concat, filter, firstValueFrom, NEVER, takeUntil } from 'rxjs';
import { type ChainReadsMessage, chainReadsMessage } from '../../actors/chain/spans/chainReads.ts';
import { type ChainSpanMessage, chainSpanFormat, spanBytesMax } from '../../actors/chain/spans/chainSpan.ts';
import { decodeChain } from '../../actors/chain/spans/decodeChain.ts';
import { linkSpan, type SpanLink } from '../../actors/chain/spans/linkSpan.ts';
import { decodeMessage } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { readsSubject, spanSubject } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { Address, BlockHash } from '../../actors/schemas/hex.ts';
import type { ErrorKind } from '../../machines/failures.ts';
import { parseStored } from '../jetstream/parseStored.ts';
import { readBackwards } from '../jetstream/readBackwards.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { whenAborted } from '../operators/whenAborted.ts';
import { type BlockSpan, buildSpans } from './buildSpans.ts';

/** Spans read at the start, which bound the depth of a reorganization that can be followed. */
const recentSpansMax = 700;
/** Headers: the message ID, and the expected last sequence of the stream. */
const headersBytesMax = 512;

export interface PublishedBlock {
  readonly number: bigint;
  readonly hash: BlockHash;
}

class PublishingFailure extends Error {
  override readonly name = 'PublishingFailure';
  readonly kind: ErrorKind;

  constructor(kind: ErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export type SpanPublisher = ReturnType<typeof createSpanPublisher>;

/** Publishes the spans and reads of one chain to `MINER_CHAIN`. A span is appended only if the stream still ends where expected. */
export function createSpanPublisher(options: {
  readonly jetStream: StreamPort;
  readonly chainId: bigint;
  readonly core: Address;
}) {
  const { jetStream, chainId, core } = options;
  const subject = spanSubject(chainId);
  let lastSequence = 0;
  let forks = 0;
  let blocks: PublishedBlock[] = [];
  /** Bytes of the largest message, with its headers; known once the stream is read. */
  let messageBytesMax = spanBytesMax;

  /** Reads the newest spans of the stream. */
  async function resume() {
    try {
      await readStream();
    } catch (error) {
      throw new PublishingFailure(
        'streamUnavailable',
        `MINER_CHAIN cannot be read: ${readErrorMessage(error)}`,
        { cause: error },
      );
    }
  }

  /** Resolves when the connection to NATS is established again; never after `signal` is aborted. */
  async function reconnected(signal: AbortSignal): Promise<void> {
    const restored$ = jetStream.changes$.pipe(
      filter(({ type }) => type === 'reconnect'),
      takeUntil(whenAborted(signal)),
    );
    await firstValueFrom(concat(restored$, NEVER));
  }

  async function readStream() {
    ({ messageBytesMax } = await jetStream.info('MINER_CHAIN'));
    const last = await jetStream.last('MINER_CHAIN', subject);
    const spans: ChainSpanMessage[] = [];
    for await (const stored of readBackwards(jetStream, 'MINER_CHAIN', last?.seq ?? 0)) {
      const span = decodeSpan(stored);
      if (span !== null) spans.push(span);
      if (spans.length === recentSpansMax) break;
    }
    // The previous state is kept until its replacement has been read.
    blocks = [];
    forks = 0;
    lastSequence = last?.seq ?? 0;
    for (const span of spans.reverse()) note(span);
  }

  function decodeSpan(stored: StreamMessage): ChainSpanMessage | null {
    if (stored.subject !== subject) return null;
    const span = decodeMessage(chainSpanFormat, stored.data);
    return 'value' in span && span.value.core === core ? span.value : null;
  }

  /**
   * Makes the next span begin at `block` or earlier: after the last lower block that is both in the stream and on the chain, or as the
   * first span if there is no such block.
   */
  async function rewind(block: bigint, isOnChain: (known: PublishedBlock) => Promise<boolean>) {
    // Blocks from here on are published again, or a later span has replaced them.
    let below = block;
    for await (const stored of readBackwards(jetStream, 'MINER_CHAIN', lastSequence)) {
      const span = decodeSpan(stored);
      if (span === null) continue;
      for (const known of listKnownBlocks(span).reverse()) {
        if (known.number >= below || !(await isOnChain(known))) continue;
        blocks = [known];
        forks++;
        return;
      }
      if (BigInt(span.fromBlock) < below) below = BigInt(span.fromBlock);
    }
    blocks = [];
    if (lastSequence > 0) forks++;
  }

  function link(span: ChainSpanMessage): SpanLink<PublishedBlock> {
    return linkSpan(
      { ...span, fromBlock: BigInt(span.fromBlock), toBlock: BigInt(span.toBlock) },
      {
        head: blocks.at(-1) ?? null,
        forks,
        // Older spans are not read.
        deploymentBlock: null,
        newestThrough: (number) => blocks.findLast((block) => block.number <= number),
      },
    );
  }

  /** Records a span that links to the previous ones. Like consumers, it ignores any other span. */
  function note(span: ChainSpanMessage) {
    const fromBlock = BigInt(span.fromBlock);
    const linked = link(span);
    if (linked.kind === 'unlinked' || (linked.kind === 'belowKnown' && span.fork <= forks)) return;
    forks = Math.max(forks, span.fork);
    if (span.part !== undefined && span.part.index < span.part.count - 1) return;
    blocks = [...blocks.filter(({ number }) => number < fromBlock), ...listKnownBlocks(span)].slice(
      -recentSpansMax,
    );
  }

  /** Refuses a span that cannot be folded: no later span could be folded either. */
  function expectTaken(span: ChainSpanMessage, data: Uint8Array) {
    const about = `the span of blocks ${span.fromBlock} to ${span.toBlock}`;
    if (data.length > messageBytesMax - headersBytesMax)
      throw new PublishingFailure(
        'unpublishable',
        `${about} has ${data.length} bytes, and NATS takes ${messageBytesMax} with headers: raise max_payload of nats-server, or max_msg_size of MINER_CHAIN`,
      );
    const decoded = decodeChain(subject, data);
    const linked = link(span);
    const refusal =
      decoded !== null && 'rejection' in decoded
        ? decoded.rejection.detail
        : linked.kind === 'unlinked'
          ? linked.detail
          : null;
    if (refusal !== null)
      throw new PublishingFailure('unpublishable', `${about} would be refused: ${refusal}`);
  }

  async function send(span: ChainSpanMessage) {
    const data = Buffer.from(JSON.stringify(span));
    expectTaken(span, data);
    // NATS must take a block again after two reorganizations, for another core, and after a failure between two of its parts.
    const id = `${chainId}.${lastSequence}`;
    try {
      lastSequence = await jetStream.append(subject, lastSequence, [data], { id });
    } catch (error) {
      // Another indexer published meanwhile, or the outcome of the attempt is unknown.
      throw new PublishingFailure('lostRace', `span of block ${span.toBlock} was not acknowledged`, {
        cause: error,
      });
    }
    note(span);
  }

  /**
   * Publishes `fromBlock` through `last`, with the logs in between, as one span or more.
   *
   * @throws PublishingFailure
   * @throws ProviderInconsistent
   */
  async function publish(span: BlockSpan) {
    for await (const message of buildSpans({ core, fork: forks }, span, messageBytesMax)) await send(message);
  }

  /** The newest reads at this block; null if this deployment has none. */
  async function reads(blockHash: BlockHash): Promise<ChainReadsMessage | null> {
    const last = await jetStream.last('MINER_CHAIN', readsSubject(chainId));
    const stored = last && parseStored(chainReadsMessage, last);
    return stored?.core === core && stored.blockHash === blockHash ? stored : null;
  }

  async function publishReads(found: Omit<ChainReadsMessage, 'core'>) {
    const id = `${chainId}.reads.${core}.${found.blockHash}.${found.fromBlock}`;
    await jetStream.publish(readsSubject(chainId), JSON.stringify({ ...found, core }), id);
  }

  return {
    reads,
    publishReads,
    resume,
    reconnected,
    rewind,
    /** Known blocks of the newest branch, ascending. */
    published: (): readonly PublishedBlock[] => blocks,
    /** Forgets the blocks above `block`, which another branch replaces. */
    forkAt: (block: bigint) => {
      blocks = blocks.filter(({ number }) => number <= block);
      forks++;
    },
    get forks() {
      return forks;
    },
    publish,
  };
}

/** Blocks whose hash a span contains, ascending. */
function listKnownBlocks(span: ChainSpanMessage): PublishedBlock[] {
  const listed = span.blocks.map(({ number, hash }) => ({ number: BigInt(number), hash }));
  const last = { number: BigInt(span.toBlock), hash: span.hash };
  return [...listed.filter(({ number }) => number < last.number), last];
}
