import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { createActor } from 'xstate';
import { type MessageSourceState, messageSourceMachine } from '../machines/messageSourceMachine.ts';
import { type Checkpoint, digestOfMessage } from './checkpoint.ts';
import { sleep } from './connection.ts';
import { watchConsumption } from './consumptionWatch.ts';
import { explainsGap, StreamDiverged, verifySource } from './sourceVerification.ts';
import type { InputStreamName } from './subjects.ts';

/** Messages that are handed over at once; the event loop turns between two batches. */
const batchMessagesMax = 512;
/** Messages asked from the server ahead of the fold. */
const pulledMessagesMax = 2_000;
/** A pull lives this long; a consumer that is gone is noticed within about the same time. */
const pullExpiresMs = 4_000;
const firstRetryMs = 100;
const longestRetryMs = 5_000;

/** One message of a stream. */
export interface StreamMessage {
  readonly seq: number;
  readonly subject: string;
  readonly data: Uint8Array;
  /** When the server stored it, nanoseconds since the epoch. */
  readonly timestampNanos: bigint;
}

/** Consecutive messages of a stream. */
export interface MessageBatch {
  readonly messages: readonly StreamMessage[];
  /** Creation time of the stream that they are of. */
  readonly streamCreated: string;
  /** The checkpoint after the last message of this batch. */
  checkpoint(): Checkpoint;
}

export interface SourceStatus {
  readonly state: MessageSourceState;
  /** Last sequence of the stream as last seen; null before it was. */
  readonly lastSequence: number | null;
  /** Last sequence that was handed over. */
  readonly position: number;
  /** Messages that retention, a purge or a deletion removed before they were read. */
  readonly missedMessages: number;
  /** Times that consumption broke off and began again with a verification. */
  readonly interruptions: number;
}

export interface MessageSourceParts {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: InputStreamName;
  readonly logger: Logger;
  /** Backpressure: no message is taken while it says no. */
  readonly hasRoom: () => boolean;
  /** Resolves when there is room again. */
  readonly room: () => Promise<void>;
  /** The messages end with this sequence; they never end when this is left out. */
  readonly through?: number;
}

export interface MessageSource {
  /**
   * The stream's messages after `checkpoint`, in order and without a gap that the stream does not explain, for as
   * long as the subscription lasts or through the last one that was asked for. Trouble with NATS never ends it.
   *
   * Errors with {@link StreamDiverged} when the checkpoint's message is no longer in the stream.
   */
  messagesAfter(checkpoint: Checkpoint): Observable<MessageBatch>;
  status(): SourceStatus;
}

/** The one consumer of one stream: ordered, unfiltered, its position owned by us (reliability, last part). */
export function createMessageSource(parts: MessageSourceParts): MessageSource {
  const { stream, logger, through = Number.POSITIVE_INFINITY } = parts;
  const machine = createActor(messageSourceMachine).start();
  const counts = { lastSequence: null as number | null, position: 0, missedMessages: 0, interruptions: 0 };

  function messagesAfter(checkpoint: Checkpoint): Observable<MessageBatch> {
    return new Observable<MessageBatch>((subscriber) => {
      const ending = new AbortController();
      counts.position = checkpoint.position;
      machine.send({ type: 'restored' });
      follow(checkpoint, subscriber, ending.signal).then(
        () => subscriber.complete(),
        (error: unknown) => {
          if (error instanceof StreamDiverged) machine.send({ type: 'divergenceFound' });
          subscriber.error(error);
        },
      );
      return () => ending.abort();
    });
  }

  async function follow(from: Checkpoint, subscriber: Subscriber<MessageBatch>, signal: AbortSignal) {
    let checkpoint = from;
    let retryMs = firstRetryMs;
    let reported = false;
    while (!signal.aborted && checkpoint.position < through) {
      const before = checkpoint.position;
      try {
        const verified = await verifySource(parts.jsm, stream, checkpoint);
        if (signal.aborted) return;
        counts.lastSequence = verified.lastSequence;
        if (verified.firstSequence > checkpoint.position + 1) {
          checkpoint = passGap(checkpoint, verified.firstSequence);
        }
        checkpoint = { ...checkpoint, streamCreated: verified.created };
        reported = false;
        checkpoint = await consume(checkpoint, verified.created, subscriber, signal);
      } catch (error) {
        if (error instanceof StreamDiverged) throw error;
        if (!reported)
          logger.warn({ stream, err: error }, 'stream cannot be read; it is tried again until it can');
        reported = true;
      }
      if (signal.aborted) return;
      retryMs = checkpoint.position > before ? firstRetryMs : Math.min(retryMs * 2, longestRetryMs);
      await sleep(retryMs, signal);
    }
  }

  /** Retention or a purge removed the messages in between: says so and goes on behind them. */
  function passGap(checkpoint: Checkpoint, firstSequence: number): Checkpoint {
    const missed = firstSequence - checkpoint.position - 1;
    const range = { stream, fromSequence: checkpoint.position + 1, toSequence: firstSequence - 1 };
    counts.missedMessages += missed;
    counts.position = firstSequence - 1;
    logger.warn({ ...range, missed }, missedText);
    return { ...checkpoint, position: firstSequence - 1, digest: null };
  }

  /** One life of one ordered consumer. Resolves with the checkpoint that was reached when something interrupts it. */
  async function consume(
    from: Checkpoint,
    streamCreated: string,
    subscriber: Subscriber<MessageBatch>,
    signal: AbortSignal,
  ): Promise<Checkpoint> {
    const consumer = await parts.js.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from.position + 1,
      inactive_threshold: 30_000,
    });
    const delivered = await consumer.consume({ max_messages: pulledMessagesMax, expires: pullExpiresMs });
    machine.send({ type: 'verified' });
    let last: JsMsg | null = null;
    let pending: JsMsg[] = [];
    const reached = () => (last === null ? from : checkpointAt(streamCreated, last));
    const watch = watchConsumption({ ...parts, delivered, signal, reached, onLastSequence });

    const handOver = () => {
      const newest = pending.at(-1);
      if (newest === undefined || signal.aborted) return;
      const messages = pending;
      pending = [];
      last = newest;
      counts.position = newest.seq;
      onLastSequence(Math.max(newest.seq, counts.lastSequence ?? 0));
      subscriber.next({ messages, streamCreated, checkpoint: () => checkpointAt(streamCreated, newest) });
    };

    try {
      let expected = from.position + 1;
      for await (const message of delivered) {
        if (signal.aborted) break;
        if (message.seq > through) {
          handOver();
          counts.position = through;
          return { ...reached(), position: through };
        }
        if (message.seq !== expected) {
          handOver();
          await requireExplanation(expected, message.seq);
        }
        expected = message.seq + 1;
        pending.push(message);
        // Messages that came in one turn of the event loop are handed over together, at its end.
        if (pending.length === 1) setImmediate(handOver);
        if (pending.length >= batchMessagesMax) {
          handOver();
          await nextTurn();
        }
        if (message.seq === through) break;
        if (!parts.hasRoom()) {
          handOver();
          await parts.room();
        }
      }
      handOver();
      watch.throwFailure();
    } finally {
      watch.stop();
      delivered.stop();
      consumer.delete().catch(() => undefined); // It is gone already, or goes by itself after its threshold.
      if (!signal.aborted) {
        counts.interruptions++;
        machine.send({ type: 'interrupted' });
        logger.info({ stream, position: counts.position, reason: watch.reason() }, 'consumption begins anew');
      }
    }
    return reached();
  }

  function onLastSequence(lastSequence: number) {
    counts.lastSequence = lastSequence;
    if (counts.position >= lastSequence) machine.send({ type: 'caughtUp' });
  }

  /** A jump in the sequences is passed when the stream explains it; else the fold stands still before it. */
  async function requireExplanation(expected: number, received: number): Promise<void> {
    const isExplained = received > expected && (await explainsGap(parts.jsm, stream, expected, received - 1));
    if (!isExplained) {
      machine.send({ type: 'gapFound' });
      throw new Error(
        `${stream}: message ${expected} was expected and ${received} came, and the stream does not say why`,
      );
    }
    const missed = received - expected;
    counts.missedMessages += missed;
    logger.warn({ stream, fromSequence: expected, toSequence: received - 1, missed }, missedText);
  }

  function status(): SourceStatus {
    return { ...counts, state: machine.getSnapshot().value };
  }

  return { messagesAfter, status };
}

const missedText =
  'messages are no longer in the stream (retention, a purge or a deletion); they stay unknown';

function checkpointAt(streamCreated: string | null, message: JsMsg): Checkpoint {
  const digest = digestOfMessage(message.subject, message.timestampNanos, message.data);
  return { streamCreated, position: message.seq, digest };
}
