import { createHash } from 'node:crypto';
import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { finalize, type MonoTypeOperatorFunction, Observable, startWith, tap } from 'rxjs';
import { z } from 'zod';
import { rejectionReasons } from '../../actors/messages/decodeMessage.ts';
import { type InputStreamName, rejectedSubject } from '../../actors/messages/subjects.ts';
import type { BackoffBounds } from '../../machines/backoff.ts';
import { readBackwards } from '../jetstream/readBackwards.ts';
import type { StreamReaderOptions } from '../jetstream/streamReaderOptions.ts';
import { type ActorOwner, noOwner } from '../operators/actorOwner.ts';
import { deliverInOrder } from '../operators/deliverInOrder.ts';
import type { PipelineItem } from './pipelineItem.ts';
import type { RejectedMessage } from './rejectedMessage.ts';

/** At most this much of a rejected message is kept. */
export const originalBytesMax = 512 * 1024;
/** What a rejection needs in addition to the original: its subject, detail and names, with every character escaped at worst. */
const envelopeBytesMax = 8 * 1024;
const backoff: BackoffBounds = { firstMs: 100, longestMs: 5_000 };
const acknowledgementMs = 5_000;

/** A rejected message as it is published on `miner.rejected.<stream>`. */
export const rejectionMessage = z.object({
  stream: z.string(),
  /** With it, a sequence identifies one message even after its stream was recreated. */
  streamCreated: z.string(),
  sequence: z.int().min(1),
  subject: z.string(),
  reason: z.enum(rejectionReasons),
  detail: z.string(),
  byteLength: z.int().min(0),
  /** Base64 of the message's bytes. */
  original: z.string(),
  /** Whether `original` is only the beginning of the message: what 512 KiB and the largest message of the server and of `MINER_REJECTED` leave room for. */
  truncated: z.boolean(),
});
export type RejectionMessage = z.infer<typeof rejectionMessage>;

/** What identifies the rejected message. A later version may have published reasons that this one does not know. */
const publishedRejection = rejectionMessage.pick({
  streamCreated: true,
  sequence: true,
  byteLength: true,
  original: true,
});

/** Where the rejections of one stream's pipeline are published. */
export interface RejectionLog {
  /** Finds what was published before, so that it is not published again, and how large a message may be. Called before a pipeline begins. */
  resume(): Promise<void>;
  /**
   * Emits each item once its rejections, and those of all before it, are acknowledged, including those that a cancelled pipeline left
   * unpublished. The pipeline begins after `position`.
   *
   * @param owner of its machine; none unless it is given.
   */
  publishAfter(position: number, owner?: ActorOwner): MonoTypeOperatorFunction<PipelineItem>;
  /** Resolves when nothing is being published, not even by a cancelled pipeline. */
  whenIdle(): Promise<void>;
  readonly waiting: number;
  /** Attempts to publish that failed; each is repeated. */
  readonly failures: number;
  /** Since the first attempt to publish the rejection that is under way, answered or not; null while none is. */
  readonly publishingForMs: number | null;
}

export interface RejectionLogOptions extends StreamReaderOptions {
  /** Whether this process may publish at the moment: another one may have taken over. */
  readonly mayPublish?: () => boolean;
  /** Called when nothing can be published: the stream of rejections may have been deleted. */
  readonly onFailing?: () => Promise<void>;
}

/**
 * Publishes the rejections of one stream, in the order of their sequences, one at a time. So after a kill at any point the last
 * published one determines which are published already.
 */
export function createRejectionLog(options: RejectionLogOptions): RejectionLog {
  const { connection, js, jsm, stream, clock, logger, mayPublish, onFailing } = options;
  const subject = rejectedSubject(stream);
  let publishedThrough = nothingPublished;
  /** In order. They are kept here because a fold may resume after them, and would not produce them again. */
  const unpublished = new Set<RejectedMessage>();
  let waiting = 0;
  let failures = 0;
  /** The outcome of a failed attempt is unknown, and the server's dedupe window may be over. */
  let isOutcomeUnknown = false;
  let messageBytesMax = Number.POSITIVE_INFINITY;
  let publishingSinceMs: number | null = null;
  let publishing: Promise<unknown> = Promise.resolve();

  const isPublished = (message: RejectedMessage) =>
    message.streamCreated === publishedThrough.streamCreated && message.sequence <= publishedThrough.sequence;

  async function resume() {
    messageBytesMax = await readMessageBytesMax(jsm);
    publishedThrough = await findLastPublished(jsm, stream, logger);
    isOutcomeUnknown = false;
  }

  async function publishOnce(message: RejectedMessage) {
    if (mayPublish?.() === false)
      throw new Error('this process does not hold the ingest lease at the moment, so nothing is published');
    if (isOutcomeUnknown) await resume();
    if (isPublished(message)) return;
    const digest = createHash('sha256').update(message.data).digest('hex').slice(0, 16);
    const msgID = `${stream}.${message.streamCreated}.${message.sequence}.${digest}`;
    const bytesMax = computeOriginalBytesMax(connection, messageBytesMax);
    const body = JSON.stringify(toRejectionMessage(stream, message, bytesMax));
    await js.publish(subject, body, { msgID, timeout: acknowledgementMs });
  }

  async function publishAll(items: readonly PipelineItem[], isCancelled: () => boolean) {
    try {
      for (const message of items.flatMap(listRejections)) {
        if (isCancelled()) return;
        publishingSinceMs ??= clock.monotonicMs();
        await publishOnce(message);
        publishingSinceMs = null;
        unpublished.delete(message);
      }
    } catch (error) {
      isOutcomeUnknown = true;
      await onFailing?.().catch(() => undefined); // The next attempt reports what still fails.
      throw error;
    }
  }

  /** Cancelled between two rejections. */
  const deliver = (items: readonly PipelineItem[]) =>
    new Observable<never>((subscriber) => {
      const attempt = publishAll(items, () => subscriber.closed);
      publishing = attempt.catch(() => undefined);
      attempt.then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
    });

  return {
    resume,
    publishAfter:
      (position, owner = noOwner) =>
      (source) =>
        source.pipe(
          startWith(wrapUnpublished([...unpublished], position)),
          tap((item) => {
            for (const message of listRejections(item)) unpublished.add(message);
          }),
          deliverInOrder<PipelineItem>({
            label: `${stream} rejections`,
            owner,
            weigh: (item) => listRejections(item).length,
            batchWeight: 1,
            gatherMs: 0,
            deliver,
            backoff,
            onStatus: (status) => {
              waiting = status.waiting;
            },
            onFailure: (error, failuresInRow) => {
              failures++;
              if (failuresInRow === 1)
                logger.warn({ stream, err: error, waiting }, 'rejections wait for NATS');
            },
            onRecovery: () => logger.info({ stream, waiting }, 'rejections are published again'),
          }),
          finalize(() => {
            waiting = 0;
            publishingSinceMs = null;
          }),
        ),
    whenIdle: async () => {
      await publishing;
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

/** The rejections that an earlier pipeline left unpublished, as an item without rows. */
function wrapUnpublished(rejections: readonly RejectedMessage[], position: number): PipelineItem {
  const place = () => ({ streamCreated: null, position, digest: null });
  return { kind: 'batch', position, weight: 0, rows: null, rejections, place };
}

function listRejections(item: PipelineItem): readonly RejectedMessage[] {
  return item.kind === 'batch' ? item.rejections : [];
}

const nothingPublished = { streamCreated: '', sequence: 0 };

/** The largest message that an operator lets the stream take. */
async function readMessageBytesMax(jsm: JetStreamManager): Promise<number> {
  const { config } = await jsm.streams.info('MINER_REJECTED');
  return config.max_msg_size > 0 ? config.max_msg_size : Number.POSITIVE_INFINITY;
}

/** Bytes of the original for which the largest message of server and stream has space next to the rest; base64 adds a third. */
function computeOriginalBytesMax({ info }: NatsConnection, messageBytesMax: number): number {
  const payloadMax = Math.min(info?.max_payload ?? Number.POSITIVE_INFINITY, messageBytesMax);
  const fitting = Math.floor(((payloadMax - envelopeBytesMax) / 4) * 3);
  return Math.max(0, Math.min(originalBytesMax, fitting));
}

function toRejectionMessage(
  stream: InputStreamName,
  message: RejectedMessage,
  bytesMax: number,
): RejectionMessage {
  const { data, ...rest } = message;
  const beginning = data.subarray(0, bytesMax);
  return {
    stream,
    ...rest,
    byteLength: data.length,
    original: Buffer.from(beginning.buffer, beginning.byteOffset, beginning.byteLength).toString('base64'),
    truncated: beginning.length < data.length,
  };
}

/**
 * The newest published rejection whose message is still in the stream. Rejections above it belong to messages that
 * the stream lost after a power failure; other messages reuse their sequences.
 */
async function findLastPublished(jsm: JetStreamManager, stream: InputStreamName, logger: Logger) {
  const { created, state } = await jsm.streams.info(stream);
  const subject = rejectedSubject(stream);
  const last = await jsm.streams.getMessage('MINER_REJECTED', { last_by_subj: subject });
  let passedOver = 0;
  for await (const stored of readBackwards(jsm, 'MINER_REJECTED', last?.seq ?? 0)) {
    if (stored.subject !== subject) continue;
    const rejection = parsePublished(stored);
    if (rejection === null) {
      // Of how many there are, others decide, so one line says it.
      if (passedOver++ === 0)
        logger.warn(
          { stream, sequence: stored.seq },
          'what is no rejection in MINER_REJECTED is passed over',
        );
      continue;
    }
    if (rejection.streamCreated !== created) return nothingPublished;
    // Retention removed the message itself, which precedes everything that can still be folded.
    if (rejection.sequence < state.first_seq) return { streamCreated: created, sequence: rejection.sequence };
    const source = await jsm.streams.getMessage(stream, { seq: rejection.sequence });
    const original = Buffer.from(rejection.original, 'base64');
    const isSameLength = source?.data.length === rejection.byteLength;
    if (source !== null && isSameLength && original.equals(source.data.subarray(0, original.length)))
      return { streamCreated: created, sequence: rejection.sequence };
  }
  return nothingPublished;
}

/** Null for what something else published on the subject. */
function parsePublished(stored: StoredMsg) {
  try {
    return publishedRejection.parse(stored.json());
  } catch {
    return null;
  }
}
