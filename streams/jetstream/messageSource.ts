import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { createActor } from 'xstate';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Clock } from '../../actors/views/clock.ts';
import type { StoredReading } from '../../actors/wheel/counterReading.ts';
import { type MessageSourceState, messageSourceMachine } from '../../machines/messageSourceMachine.ts';
import { type Checkpoint, digestOfMessage } from './checkpoint.ts';
import { sleep } from './connection.ts';
import { watchConsumption } from './consumptionWatch.ts';
import { isStreamMissing } from './ensureStreams.ts';
import { createPullSizing } from './pullSizing.ts';
import { explainGap, StreamDiverged, verifySource } from './sourceVerification.ts';

/** What is handed over at once, in number and bytes; the event loop turns between two batches. */
export const batchMessagesMax = 512;
export const batchBytesMax = 4 * 1024 * 1024;
/** What is asked from the server ahead of the fold. */
export const pullBounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };
/** A pull lives this long; a consumer that is gone is noticed within about the same time. */
const pullExpiresMs = 4_000;
const firstRetryMs = 100;
const longestRetryMs = 5_000;
/** A stream that was missing so many times in a row is not only slow to be found. */
const missingTimesMax = 2;

/** Consecutive messages of a stream. */
export interface MessageBatch {
  /** None where everything through `position` has left the stream. */
  readonly messages: readonly StreamMessage[];
  /** Readings whose messages have left the stream, in order of position; they come instead of messages. */
  readonly stored: readonly StoredReading[];
  /** Creation time of the stream that they are of. */
  readonly streamCreated: string;
  /** Sequence through which nothing more will come. */
  readonly position: number;
  /** The checkpoint after the last message of this batch. */
  checkpoint(): Checkpoint;
}

export interface SourceStatus {
  readonly state: MessageSourceState;
  /** Last sequence of the stream; null while it is not known. */
  readonly lastSequence: number | null;
  /** Last sequence that was handed over. */
  readonly position: number;
  /** Messages that retention, a purge or a deletion removed before they were read. */
  readonly missedMessages: number;
  /** Times that consumption broke off and began again with a verification. */
  readonly interruptions: number;
  /**
   * Everything that the stream held at this time is handed over (by the monotonic clock); null while nothing is known. It stands still
   * while the stream cannot be read or is not kept up with.
   */
  readonly freshAsOfMs: number | null;
}

export interface MessageSourceParts {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: InputStreamName;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called while the stream does not exist; left out by those that only wait for it. */
  readonly onMissing?: () => Promise<void>;
  /** What is stored of messages that have left the stream, from behind one sequence through another; left out where nothing is. */
  readonly readStored?: (after: number, through: number) => AsyncIterable<readonly StoredReading[]>;
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

/** The one consumer of one stream: ordered, unfiltered, its position owned by us (MESSAGES.md, Consumption). */
export function createMessageSource(parts: MessageSourceParts): MessageSource {
  const { stream, clock, logger, through = Number.POSITIVE_INFINITY } = parts;
  const machine = createActor(messageSourceMachine).start();
  const pulls = createPullSizing(pullBounds);
  const counts = {
    lastSequence: null as number | null,
    position: 0,
    missedMessages: 0,
    interruptions: 0,
    freshAsOfMs: null as number | null,
  };
  /** An end of the stream that is not reached yet, and when it was seen. */
  let seenEnd: { readonly sequence: number; readonly atMs: number } | null = null;

  function messagesAfter(checkpoint: Checkpoint): Observable<MessageBatch> {
    return new Observable<MessageBatch>((subscriber) => {
      const ending = new AbortController();
      counts.position = checkpoint.position;
      counts.freshAsOfMs = null;
      seenEnd = null;
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
    let missingTimes = 0;
    while (!signal.aborted && checkpoint.position < through) {
      const before = checkpoint.position;
      try {
        const askedAtMs = clock.monotonicMs();
        const verified = await verifySource(parts.jsm, stream, checkpoint);
        if (signal.aborted) return;
        missingTimes = 0;
        checkpoint = { ...checkpoint, streamCreated: verified.created };
        if (verified.firstSequence > checkpoint.position + 1)
          checkpoint = await skipGap(checkpoint, verified.firstSequence - 1, subscriber, signal);
        if (signal.aborted) return;
        onEndSeen(verified.lastSequence, askedAtMs);
        reported = false;
        checkpoint = await consume(checkpoint, verified.created, subscriber, signal);
      } catch (error) {
        if (error instanceof StreamDiverged) throw error;
        counts.lastSequence = null;
        if (!reported)
          logger.warn({ stream, err: error }, 'stream cannot be read; it is tried again until it can');
        reported = true;
        if (isStreamMissing(error) && ++missingTimes >= missingTimesMax) await reportMissing();
      }
      if (signal.aborted) return;
      retryMs = checkpoint.position > before ? firstRetryMs : Math.min(retryMs * 2, longestRetryMs);
      await sleep(retryMs, signal);
    }
  }

  async function reportMissing() {
    await parts.onMissing?.().catch((error: unknown) => {
      logger.warn({ stream, err: error }, 'the missing stream cannot be created; it is tried again');
    });
  }

  /**
   * Retention, a purge or a deletion removed the messages through a sequence. What is stored of them takes their place; the rest stays
   * unknown, and is told of.
   */
  async function skipGap(
    from: Checkpoint,
    through: number,
    subscriber: Subscriber<MessageBatch>,
    signal: AbortSignal,
  ): Promise<Checkpoint> {
    const streamCreated = from.streamCreated ?? '';
    const behind = (position: number) => ({ streamCreated: from.streamCreated, position, digest: null });
    const emitThrough = (position: number, stored: readonly StoredReading[]) =>
      emit({ messages: [], stored, streamCreated, position, checkpoint: () => behind(position) }, subscriber);
    let storedCount = 0;
    for await (const stored of parts.readStored?.(from.position, through) ?? []) {
      if (!parts.hasRoom()) await parts.room();
      if (signal.aborted) return behind(counts.position);
      storedCount += stored.length;
      emitThrough((stored.at(-1) as StoredReading).position, stored);
    }
    const missed = through - from.position - storedCount;
    counts.missedMessages += missed;
    const range = { stream, fromSequence: from.position + 1, toSequence: through };
    logger.warn({ ...range, missed, storedReadings: storedCount }, missedText);
    emitThrough(through, []);
    return behind(through);
  }

  function emit(batch: MessageBatch, subscriber: Subscriber<MessageBatch>) {
    counts.position = batch.position;
    subscriber.next(batch);
    if (counts.lastSequence !== null) counts.lastSequence = Math.max(counts.lastSequence, batch.position);
    if (seenEnd === null || batch.position < seenEnd.sequence) return;
    counts.freshAsOfMs = seenEnd.atMs;
    seenEnd = null;
    machine.send({ type: 'caughtUp' });
  }

  function onEndSeen(sequence: number, atMs: number) {
    counts.lastSequence = Math.max(sequence, counts.position);
    if (counts.position >= sequence) {
      counts.freshAsOfMs = atMs;
      seenEnd = null;
      machine.send({ type: 'caughtUp' });
    } else seenEnd ??= { sequence, atMs };
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
    const delivered = await consumer.consume({ max_messages: pulls.messages, expires: pullExpiresMs });
    machine.send({ type: 'verified' });
    let pending: JsMsg[] = [];
    let pendingBytes = 0;
    /** The checkpoint of what was handed over last. */
    let reached = () => from;
    const watch = watchConsumption({
      ...parts,
      delivered,
      signal,
      reached: () => reached(),
      onEndSeen,
      onUnknown: () => {
        counts.lastSequence = null;
      },
    });
    // The verification before may have found the end already.
    if (counts.lastSequence !== null && counts.position >= counts.lastSequence)
      machine.send({ type: 'caughtUp' });

    const handOver = () => {
      const newest = pending.at(-1);
      if (newest === undefined || signal.aborted) return;
      const messages = pending;
      pending = [];
      pendingBytes = 0;
      const checkpoint = () => checkpointAt(streamCreated, newest);
      reached = checkpoint;
      emit({ messages, stored: [], streamCreated, position: newest.seq, checkpoint }, subscriber);
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
          const behind = await passGap(reached(), expected, message.seq, subscriber, signal);
          reached = () => behind;
          if (signal.aborted) break;
        }
        expected = message.seq + 1;
        pending.push(message);
        pendingBytes += message.data.length;
        // Messages that came in one turn of the event loop are handed over together, at its end.
        if (pending.length === 1) setImmediate(handOver);
        if (pending.length >= batchMessagesMax || pendingBytes >= batchBytesMax) {
          handOver();
          await nextTurn();
        }
        if (message.seq === through) break;
        if (pulls.observe(message.data.length)) {
          watch.end(`messages of ${message.data.length} bytes: ${pulls.messages} are asked for at a time`);
          break;
        }
        if (!parts.hasRoom()) {
          handOver();
          await parts.room();
        }
      }
      handOver();
      watch.throwFailure();
      const goneThrough = watch.goneThrough();
      if (goneThrough !== null && !signal.aborted)
        return await skipGap(reached(), goneThrough, subscriber, signal);
    } finally {
      watch.stop();
      delivered.stop();
      consumer.delete().catch(() => undefined); // It is gone already, or goes by itself after its threshold.
      if (!signal.aborted) {
        counts.interruptions++;
        counts.lastSequence = null;
        machine.send({ type: 'interrupted' });
        logger.info({ stream, position: counts.position, reason: watch.reason() }, 'consumption begins anew');
      }
    }
    return reached();
  }

  /** A jump in the sequences is passed when the stream explains it; else the fold stands still before it. */
  async function passGap(
    from: Checkpoint,
    expected: number,
    received: number,
    subscriber: Subscriber<MessageBatch>,
    signal: AbortSignal,
  ): Promise<Checkpoint> {
    const explanation =
      received > expected ? await explainGap(parts.jsm, stream, expected, received - 1) : null;
    if (explanation === null) {
      machine.send({ type: 'gapFound' });
      throw new Error(
        `${stream}: message ${expected} was expected and ${received} came, and the stream does not say why`,
      );
    }
    if (explanation === 'removed') return skipGap(from, received - 1, subscriber, signal);
    const missed = received - expected;
    counts.missedMessages += missed;
    logger.warn({ stream, fromSequence: expected, toSequence: received - 1, missed }, missedText);
    return from;
  }

  function status(): SourceStatus {
    return { ...counts, state: machine.getSnapshot().value };
  }

  return { messagesAfter, status };
}

const missedText =
  'messages are no longer in the stream (retention, a purge or a deletion); what is not stored of them stays unknown';

function checkpointAt(streamCreated: string | null, message: JsMsg): Checkpoint {
  const digest = digestOfMessage(message.subject, message.timestampNanos, message.data);
  return { streamCreated, position: message.seq, digest };
}
