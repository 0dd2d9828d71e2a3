import { finalize, type MonoTypeOperatorFunction, Observable } from 'rxjs';
import { z } from 'zod';
import { type RejectionReason, rejectionReasons } from '../../actors/messages/rejectionReasons.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type InputStreamName, refusedSubject, rejectedSubject } from '../../actors/messages/subjects.ts';
import type { BackoffBounds } from '../../machines/backoff.ts';
import { parseStored } from '../jetstream/parseStored.ts';
import { readBackwards } from '../jetstream/readBackwards.ts';
import type { StreamReaderOptions } from '../jetstream/streamReaderOptions.ts';
import { formatNanos, parseNanos } from '../nats/nanos.ts';
import { isRefusedAs } from '../nats/streamPort.ts';
import { deliverInOrder } from '../operators/deliverInOrder.ts';
import type { PipelineItem, RejectedMessage } from './pipelineItem.ts';

/** At most this much of a rejected message is kept. */
export const originalBytesMax = 512 * 1024;
/** Bytes of a rejection without the original: its subject, detail and names, with every character escaped at worst. */
const envelopeBytesMax = 8 * 1024;
const backoff: BackoffBounds = { firstMs: 100, longestMs: 5_000 };
/** Maximum number and size of the rejections that are published before an acknowledgement; a single one is smaller. */
export const unacknowledgedMax = 512;
const unacknowledgedBytesMax = 1024 * 1024;
const warningIntervalMs = 60_000;

export const rejectionMessage = z.object({
  stream: z.string(),
  /** Together with the sequence it identifies a message even after the stream was recreated. */
  streamCreated: z.string(),
  sequence: z.int().min(1),
  /** When the server stored the message, to the nanosecond. It distinguishes equal messages if a lost message's sequence is reused. */
  storedAt: z.string(),
  subject: z.string(),
  reason: z.enum(rejectionReasons),
  detail: z.string(),
  byteLength: z.int().min(0),
  /** Base64 of the message's bytes. */
  original: z.string(),
  /** Whether `original` is only the beginning of the message, cut at 512 KiB or at what the server and `MINER_REJECTED` can take. */
  truncated: z.boolean(),
});
export type RejectionMessage = z.infer<typeof rejectionMessage>;

/** The members that identify the rejected message; a later version may have published reasons unknown to this one. */
const publishedRejection = rejectionMessage.pick({
  streamCreated: true,
  sequence: true,
  storedAt: true,
  byteLength: true,
  original: true,
});
type PublishedRejection = z.infer<typeof publishedRejection>;

export interface RejectionLog {
  /** Emits each item once its rejections and all earlier ones are acknowledged. The fold makes those that a cancelled pipeline left again. */
  readonly afterPublication: MonoTypeOperatorFunction<PipelineItem>;
  readonly waiting: number;
  /** Attempts to publish that failed; each is repeated. */
  readonly failures: number;
  /** Time since the first attempt to publish the current rejection; null while none is being published. */
  readonly publishingForMs: number | null;
}

export interface RejectionLogOptions extends StreamReaderOptions {
  /** Whether this process may publish at the moment: another one may have taken over. */
  readonly mayPublish?: () => boolean;
  /** Called when nothing can be published: the stream of rejections may have been deleted. */
  readonly ensureStreams?: () => Promise<unknown>;
}

/** What is published of a stream: read once by a pipeline, then updated by it. */
interface Published {
  /** Creation time of the stream, and the sequence up to which its rejections are published. */
  readonly streamCreated: string;
  readonly sequence: number;
  /** Sequence of the newest message of the subject in `MINER_REJECTED`; 0 for a subject without messages. */
  readonly end: number;
  /** Largest message that `MINER_REJECTED` takes, in bytes. */
  readonly messageBytesMax: number;
}

/**
 * Publishes the rejections of one stream in the order of their sequences. None is stored before its predecessor, so after a kill the
 * newest published one shows which are stored.
 */
export function createRejectionLog(options: RejectionLogOptions): RejectionLog {
  const { jetStream, stream, clock, logger, mayPublish, ensureStreams } = options;
  const subject = rejectedSubject(stream);
  /** Null if the outcome of an attempt is unknown; then it is read again before the next attempt. */
  let published: Published | null = null;
  /** The last attempt, also of a cancelled pipeline. */
  let attempt: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let failures = 0;
  let publishingSinceMs: number | null = null;

  const warn = createRejectionWarnings(options);

  /** Runs work once the last attempt has ended, which would otherwise overwrite `published`. */
  function takeTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = attempt.then(work);
    attempt = turn.catch(() => undefined);
    return turn;
  }

  /** Publishes the first of these messages, `most` at most, and returns how many are published now. */
  async function publishFirst(messages: readonly RejectedMessage[], most: number) {
    if (mayPublish?.() === false)
      throw new Error('this process does not hold the ingest lease at the moment, so nothing is published');
    const known = published ?? (await readPublished(options));
    published = null;
    const bytesMax = computeOriginalBytesMax(known.messageBytesMax);
    const bodies: string[] = [];
    const fresh: RejectedMessage[] = [];
    let bytes = 0;
    let count = 0;
    for (const message of messages) {
      if (message.streamCreated !== known.streamCreated || message.sequence > known.sequence) {
        if (bodies.length === most) break;
        const body = JSON.stringify(toRejectionMessage(stream, message, bytesMax));
        bytes += body.length;
        if (bytes > unacknowledgedBytesMax) break;
        bodies.push(body);
        fresh.push(message);
      }
      count++;
    }
    const end = bodies.length === 0 ? known.end : await jetStream.append(subject, known.end, bodies);
    const newest = fresh.at(-1) ?? known;
    published = { ...known, streamCreated: newest.streamCreated, sequence: newest.sequence, end };
    for (const message of fresh) {
      notifyPublisher(message);
      warn(message);
    }
    return count;
  }

  /** Once its rejection is stored, so none is announced that could still be missing. A kill in between leaves the publisher without a notice. */
  function notifyPublisher({ subject: refused, sequence, reason, detail, messageId }: RejectedMessage) {
    jetStream.notify(
      refusedSubject(refused),
      JSON.stringify({ stream, sequence, reason, detail, messageId }),
    );
  }

  async function publishAll(items: readonly PipelineItem[], isCancelled: () => boolean) {
    const messages = items.flatMap(listRejections);
    let most = unacknowledgedMax;
    while (messages.length > 0 && !isCancelled()) {
      publishingSinceMs ??= clock.monotonicMs();
      try {
        const count = await takeTurn(() => publishFirst(messages, most));
        messages.splice(0, count);
        publishingSinceMs = null;
        most = unacknowledgedMax;
      } catch (error) {
        // Another publisher was faster, or the server refused one in the middle; published alone, it gets the reason.
        if (most > 1 && isRefusedAs('otherEnd', error)) most = 1;
        else {
          await ensureStreams?.().catch(() => undefined); // The next attempt reports what still fails.
          throw error;
        }
      }
    }
  }

  /** Can be cancelled between two acknowledgements. */
  const deliver = (items: readonly PipelineItem[]) =>
    new Observable<never>((subscriber) => {
      publishAll(items, () => subscriber.closed).then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
    });

  return {
    afterPublication: (source) => {
      // A stream that has lost its end has other messages at the places of published ones.
      void takeTurn(async () => {
        published = null;
      });
      return source.pipe(
        deliverInOrder<PipelineItem>({
          weigh: (item) => listRejections(item).length,
          batchWeight: 1,
          gatherMs: () => 0,
          deliver,
          backoff,
          onWaiting: (weight) => {
            waiting = weight;
          },
          onFailure: (error, failuresInRow) => {
            failures++;
            if (failuresInRow === 1) logger.warn({ stream, err: error, waiting }, 'rejections wait for NATS');
          },
          onRecovery: () => logger.info({ stream, waiting }, 'rejections are published again'),
        }),
        finalize(() => {
          waiting = 0;
          publishingSinceMs = null;
        }),
      );
    },
    get waiting() {
      return waiting;
    },
    get failures() {
      return failures;
    },
    get publishingForMs() {
      return publishingSinceMs === null ? null : clock.monotonicMs() - publishingSinceMs;
    },
  };
}

/** Logs one line a minute for each reason, with an example and the number since the previous line. */
function createRejectionWarnings({ stream, clock, logger }: RejectionLogOptions) {
  const reports = new Map<RejectionReason, { readonly atMs: number; unreported: number }>();
  return ({ reason, sequence, subject, detail }: RejectedMessage) => {
    const last = reports.get(reason);
    const atMs = clock.monotonicMs();
    if (last !== undefined && atMs - last.atMs < warningIntervalMs) {
      last.unreported++;
      return;
    }
    const rejected = 1 + (last?.unreported ?? 0);
    logger.warn({ stream, reason, rejected, sequence, subject, detail }, 'messages are rejected');
    reports.set(reason, { atMs, unreported: 0 });
  };
}

function listRejections(item: PipelineItem): readonly RejectedMessage[] {
  return item.kind === 'batch' ? item.rejections : [];
}

const nothingPublished = { streamCreated: '', sequence: 0 };

/** Bytes of the original that fit into the largest message of server and stream; base64 adds a third. */
function computeOriginalBytesMax(messageBytesMax: number): number {
  const fitting = Math.floor(((messageBytesMax - envelopeBytesMax) / 4) * 3);
  return Math.max(0, Math.min(originalBytesMax, fitting));
}

function toRejectionMessage(
  stream: InputStreamName,
  message: RejectedMessage,
  bytesMax: number,
): RejectionMessage {
  const { data, storedAtNanos, messageId: _, ...rest } = message;
  const beginning = data.subarray(0, bytesMax);
  return {
    stream,
    ...rest,
    storedAt: formatNanos(storedAtNanos),
    byteLength: data.length,
    original: Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength).toString('base64'),
    truncated: beginning.length < data.length,
  };
}

async function readPublished(options: RejectionLogOptions): Promise<Published> {
  const { jetStream, stream } = options;
  const { messageBytesMax } = await jetStream.info('MINER_REJECTED');
  const last = await jetStream.last('MINER_REJECTED', rejectedSubject(stream));
  const end = last?.seq ?? 0;
  return { ...(await findLastPublished(options, last)), end, messageBytesMax };
}

/**
 * Finds the newest published rejection whose message is still in the stream. Rejections above it belong to messages that the stream
 * lost in a power failure; other messages reuse their sequences.
 *
 * @throws NotProven while the stream may have a rejected message after all.
 */
async function findLastPublished(
  {
    jetStream,
    stream,
    verifier,
    logger,
  }: Pick<RejectionLogOptions, 'jetStream' | 'stream' | 'verifier' | 'logger'>,
  newest: StreamMessage | null,
): Promise<Pick<Published, 'streamCreated' | 'sequence'>> {
  const answer = await verifier.ask();
  const { created, firstSequence } = answer.info;
  const subject = rejectedSubject(stream);
  let last: Pick<Published, 'streamCreated' | 'sequence'> = nothingPublished;
  let isSomeLost = false;
  let passedOver = 0;
  for await (const stored of readDown(jetStream, newest)) {
    if (stored.subject !== subject) continue;
    const rejection = parseStored(publishedRejection, stored);
    if (rejection === null) {
      // Other publishers decide how many there are, so it is logged once.
      if (passedOver++ === 0)
        logger.warn(
          { stream, sequence: stored.seq },
          'a message of MINER_REJECTED is not a rejection, and is ignored',
        );
      continue;
    }
    const { sequence, streamCreated } = rejection;
    if (streamCreated !== created) {
      // A later creation is no old answer, so the rejection is of an earlier stream.
      isSomeLost ||= Date.parse(streamCreated) > Date.parse(created);
      break;
    }
    // Everything that can still be folded comes after a message that retention has removed.
    const isRemoved = sequence < firstSequence;
    const source = isRemoved ? null : await jetStream.message(stream, sequence);
    if (isRemoved || (source !== null && isRejectionOf(rejection, source))) {
      last = { streamCreated, sequence };
      break;
    }
    isSomeLost = true;
  }
  const claim = `${stream} has lost messages whose rejections are published`;
  verifier.isProven(answer, { claim, isConfirmed: isSomeLost });
  return last;
}

/** Not asked for the newest one again: another leader might not have applied it yet, and it would be left out. */
async function* readDown(jetStream: RejectionLogOptions['jetStream'], newest: StreamMessage | null) {
  if (newest === null) return;
  yield newest;
  yield* readBackwards(jetStream, 'MINER_REJECTED', newest.seq - 1);
}

function isRejectionOf(
  { storedAt, byteLength, original }: PublishedRejection,
  { data, timestampNanos }: StreamMessage,
) {
  const beginning = Buffer.from(original, 'base64');
  const isSameTime = parseNanos(storedAt) === timestampNanos;
  return isSameTime && data.length === byteLength && beginning.equals(data.subarray(0, beginning.length));
}
