import { createHash } from 'node:crypto';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type RejectionReason, rejectionReasons } from '../../actors/messages/decodeMessage.ts';
import { type InputStreamName, rejectedSubject } from '../../actors/messages/subjects.ts';
import { createWaiters } from '../../storage/waiters.ts';
import { sleep } from './connection.ts';

/** Rejections that may wait for an acknowledgement before the source of their stream is held back, in number and bytes. */
export const waitingMax = 4_000;
export const waitingBytesMax = 16 * 1024 * 1024;
/** At most so much of a rejected message is kept. */
export const originalBytesMax = 512 * 1024;
/** What a rejection takes beside the original: its subject, detail and names, each character escaped at worst. */
const envelopeBytesMax = 8 * 1024;
const firstRetryMs = 100;
const longestRetryMs = 5_000;
const acknowledgementMs = 5_000;

/** A rejected message as it is published on `miner.rejected.<stream>`. */
export const rejectionMessage = z.object({
  stream: z.string(),
  /** With it, a sequence names one message even after its stream was created anew. */
  streamCreated: z.string(),
  sequence: z.int().min(1),
  subject: z.string(),
  reason: z.enum(rejectionReasons),
  detail: z.string(),
  byteLength: z.int().min(0),
  /** Base64 of the message's bytes. */
  original: z.string(),
  /** Whether `original` is only the beginning of the message: what 512 KiB and the server's largest message leave room for. */
  truncated: z.boolean(),
});
export type RejectionMessage = z.infer<typeof rejectionMessage>;

export interface RejectedMessage {
  readonly streamCreated: string;
  readonly sequence: number;
  readonly subject: string;
  readonly data: Uint8Array;
  readonly reason: RejectionReason;
  readonly detail: string;
}

export interface RejectionLog {
  /** Finds what was published before; a rejection of it is not published again. Called before the first `add`. */
  resume(): Promise<void>;
  add(message: RejectedMessage): void;
  hasRoom(): boolean;
  room(): Promise<void>;
  /** True when every rejection added so far is acknowledged; false when the log was closed before. */
  flushed(): Promise<boolean>;
  readonly waiting: number;
  /** Attempts to publish that failed; each is repeated. */
  readonly failures: number;
  close(): Promise<void>;
}

export interface RejectionLogParts {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: InputStreamName;
  readonly logger: Logger;
  /** Whether this process may publish at the moment: another one may have taken over. */
  readonly mayPublish?: () => boolean;
  /** Called when nothing can be published: the stream of rejections may have been deleted. */
  readonly onFailing?: () => Promise<void>;
}

/**
 * Publishes the rejections of one stream, in the order of their sequences, one at a time. So the last one published
 * tells, after a kill anywhere, which are published already.
 */
export function createRejectionLog(parts: RejectionLogParts): RejectionLog {
  const { connection, js, jsm, stream, logger } = parts;
  const subject = rejectedSubject(stream);
  const closing = new AbortController();
  const queue: RejectedMessage[] = [];
  const counts = { added: 0, published: 0, waitingBytes: 0, failures: 0 };
  let publishedThrough = nothingPublished;
  const waiters = createWaiters();
  let running: Promise<void> | null = null;

  const isPublished = (message: RejectedMessage) =>
    message.streamCreated === publishedThrough.streamCreated && message.sequence <= publishedThrough.sequence;

  function add(message: RejectedMessage) {
    if (isPublished(message)) return;
    queue.push(message);
    counts.added++;
    counts.waitingBytes += message.data.length;
    running ??= publishQueue().finally(() => {
      running = null;
    });
  }

  async function publishQueue() {
    let failures = 0;
    for (let next = queue[0]; next !== undefined && !closing.signal.aborted; next = queue[0]) {
      try {
        if (parts.mayPublish?.() === false)
          throw new Error('the ingest lease is not held at the moment, so nothing is published');
        // The outcome of a failed attempt is unknown, and the server's dedupe window may be over.
        if (failures > 0) publishedThrough = await lastPublished(jsm, stream);
        if (!isPublished(next)) await publish(next);
        if (failures > 0) logger.info({ stream, waiting: queue.length }, 'rejections are published again');
        failures = 0;
        queue.shift();
        counts.waitingBytes -= next.data.length;
        counts.published++;
        waiters.wake();
      } catch (error) {
        if (failures === 0)
          logger.warn({ stream, err: error, waiting: queue.length }, 'rejections wait for NATS');
        counts.failures++;
        await parts.onFailing?.().catch(() => undefined); // What stands in the way now is told by the next attempt.
        await sleep(Math.min(firstRetryMs * 2 ** failures, longestRetryMs), closing.signal);
        failures++;
      }
    }
  }

  async function publish(message: RejectedMessage) {
    const digest = createHash('sha256').update(message.data).digest('hex').slice(0, 16);
    const msgID = `${stream}.${message.streamCreated}.${message.sequence}.${digest}`;
    const body = JSON.stringify(rejectionOf(stream, message, roomForOriginal(connection)));
    await js.publish(subject, body, { msgID, timeout: acknowledgementMs });
  }

  return {
    resume: async () => {
      publishedThrough = await lastPublished(jsm, stream);
    },
    add,
    hasRoom: () => queue.length < waitingMax && counts.waitingBytes < waitingBytesMax,
    room: async () => {
      await waiters.until(() => queue.length <= waitingMax / 2 && counts.waitingBytes <= waitingBytesMax / 2);
    },
    flushed: () => {
      const { added } = counts;
      return waiters.until(() => counts.published >= added);
    },
    get waiting() {
      return queue.length;
    },
    get failures() {
      return counts.failures;
    },
    close: async () => {
      closing.abort();
      waiters.end();
      await running;
    },
  };
}

const nothingPublished = { streamCreated: '', sequence: 0 };

/** Bytes of a message that fit beside the rest into what the server takes; base64 adds a third. */
function roomForOriginal({ info }: NatsConnection): number {
  const payloadMax = info?.max_payload ?? Number.POSITIVE_INFINITY;
  const fitting = Math.floor(((payloadMax - envelopeBytesMax) / 4) * 3);
  return Math.max(0, Math.min(originalBytesMax, fitting));
}

function rejectionOf(stream: InputStreamName, message: RejectedMessage, bytesMax: number): RejectionMessage {
  const { data, ...rest } = message;
  const kept = data.subarray(0, bytesMax);
  return {
    stream,
    ...rest,
    byteLength: data.length,
    original: Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength).toString('base64'),
    truncated: kept.length < data.length,
  };
}

/**
 * The newest published rejection whose message is still in the stream. Rejections above it belong to messages that
 * the stream lost after a power failure; their sequences are used again by others.
 */
async function lastPublished(jsm: JetStreamManager, stream: InputStreamName) {
  const { created, state } = await jsm.streams.info(stream);
  let stored = await jsm.streams.getMessage('MINER_REJECTED', { last_by_subj: rejectedSubject(stream) });
  while (stored !== null) {
    const rejection =
      stored.subject === rejectedSubject(stream) ? rejectionMessage.parse(stored.json()) : null;
    if (rejection !== null) {
      if (rejection.streamCreated !== created) return nothingPublished;
      // Retention took the message itself, which came before all that can still be folded.
      if (rejection.sequence < state.first_seq)
        return { streamCreated: created, sequence: rejection.sequence };
      const source = await jsm.streams.getMessage(stream, { seq: rejection.sequence });
      const original = Buffer.from(rejection.original, 'base64');
      const isSameLength = source?.data.length === rejection.byteLength;
      if (source !== null && isSameLength && original.equals(source.data.subarray(0, original.length))) {
        return { streamCreated: created, sequence: rejection.sequence };
      }
    }
    if (stored.seq <= 1) return nothingPublished;
    stored = await jsm.streams.getMessage('MINER_REJECTED', { seq: stored.seq - 1 });
  }
  return nothingPublished;
}
