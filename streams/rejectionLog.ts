import { createHash } from 'node:crypto';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { sleep } from './connection.ts';
import type { RejectionReason } from './decodeMessage.ts';
import { rejectionReasons } from './decodeMessage.ts';
import { type InputStreamName, rejectedSubject } from './subjects.ts';
import { createWaiters } from './waiters.ts';

/** Rejections that may wait for an acknowledgement before the source of their stream is held back. */
const waitingMax = 4_000;
/** The largest message that the server takes is 1 MiB; base64 adds a third. */
const originalBytesMax = 512 * 1024;
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
  /** Whether `original` is only the beginning of a message over 512 KiB. */
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
  close(): Promise<void>;
}

export interface RejectionLogParts {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: InputStreamName;
  readonly logger: Logger;
}

/**
 * Publishes the rejections of one stream, in the order of their sequences, one at a time. So the last one published
 * tells, after a kill anywhere, which are published already.
 */
export function createRejectionLog({ js, jsm, stream, logger }: RejectionLogParts): RejectionLog {
  const subject = rejectedSubject(stream);
  const closing = new AbortController();
  const queue: RejectedMessage[] = [];
  const counts = { added: 0, published: 0 };
  let publishedThrough = nothingPublished;
  const waiters = createWaiters();
  let running: Promise<void> | null = null;

  const isPublished = (message: RejectedMessage) =>
    message.streamCreated === publishedThrough.streamCreated && message.sequence <= publishedThrough.sequence;

  function add(message: RejectedMessage) {
    if (isPublished(message)) return;
    queue.push(message);
    counts.added++;
    running ??= publishQueue().finally(() => {
      running = null;
    });
  }

  async function publishQueue() {
    let failures = 0;
    for (let next = queue[0]; next !== undefined && !closing.signal.aborted; next = queue[0]) {
      try {
        // The outcome of a failed attempt is unknown, and the server's dedupe window may be over.
        if (failures > 0) publishedThrough = await lastPublished(jsm, stream);
        if (!isPublished(next)) await publish(next);
        if (failures > 0) logger.info({ stream, waiting: queue.length }, 'rejections are published again');
        failures = 0;
        queue.shift();
        counts.published++;
        waiters.wake();
      } catch (error) {
        if (failures === 0)
          logger.warn({ stream, err: error, waiting: queue.length }, 'rejections wait for NATS');
        await sleep(Math.min(firstRetryMs * 2 ** failures, longestRetryMs), closing.signal);
        failures++;
      }
    }
  }

  async function publish(message: RejectedMessage) {
    const digest = createHash('sha256').update(message.data).digest('hex').slice(0, 16);
    const msgID = `${stream}.${message.streamCreated}.${message.sequence}.${digest}`;
    const body = JSON.stringify(rejectionOf(stream, message));
    await js.publish(subject, body, { msgID, timeout: acknowledgementMs });
  }

  return {
    resume: async () => {
      publishedThrough = await lastPublished(jsm, stream);
    },
    add,
    hasRoom: () => queue.length < waitingMax,
    room: async () => {
      await waiters.until(() => queue.length < waitingMax / 2);
    },
    flushed: () => {
      const { added } = counts;
      return waiters.until(() => counts.published >= added);
    },
    get waiting() {
      return queue.length;
    },
    close: async () => {
      closing.abort();
      waiters.end();
      await running;
    },
  };
}

const nothingPublished = { streamCreated: '', sequence: 0 };

function rejectionOf(stream: InputStreamName, message: RejectedMessage): RejectionMessage {
  const { data, ...rest } = message;
  const kept = data.subarray(0, originalBytesMax);
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
      if (source !== null && original.equals(source.data.subarray(0, originalBytesMax))) {
        return { streamCreated: created, sequence: rejection.sequence };
      }
    }
    if (stored.seq <= 1) return nothingPublished;
    stored = await jsm.streams.getMessage('MINER_REJECTED', { seq: stored.seq - 1 });
  }
  return nothingPublished;
}
