import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { Observable, type Subscriber } from 'rxjs';
import { type Actor, createActor, fromPromise } from 'xstate';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Clock } from '../../actors/views/clock.ts';
import type { StoredReading } from '../../actors/wheel/counterReading.ts';
import {
  type MessageSourceState,
  messageSourceMachine,
  type SourceFault,
} from '../../machines/messageSourceMachine.ts';
import type { Gate } from '../operators/gate.ts';
import { type Checkpoint, digestMessage } from './checkpoint.ts';
import { watchConsumption } from './consumptionWatch.ts';
import { isStreamMissing } from './ensureStreams.ts';
import { createPullSizing } from './pullSizing.ts';
import { explainGap, StreamDiverged, verifySource } from './sourceVerification.ts';

/** What is handed over at once, in number and bytes; the event loop turns between two batches. */
export const batchMessagesMax = 512;
export const batchBytesMax = 4 * 1024 * 1024;
/** What is asked from the server ahead of the fold. */
export const pullBounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };
/** What a message costs beside its bytes while it is under way, as rows or a rejection; a stored reading costs as much. */
const messageOverheadBytes = 400;
/** A pull lives this long; a consumer that is gone is noticed within about the same time. */
const pullExpiresMs = 4_000;

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
  /** Bytes of its messages. */
  readonly weight: number;
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

/** Messages are missing, and the stream does not say why. */
export class UnexplainedGap extends Error {
  override readonly name = 'UnexplainedGap';
}

export interface MessageSourceOptions {
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
  /** The messages end with this sequence; they never end when this is left out. */
  readonly through?: number;
}

export interface MessageSource {
  /**
   * The stream's messages after `checkpoint`, in order and without a gap that the stream does not explain, for as
   * long as the subscription lasts or through the last one that was asked for. Each batch enters the gate, and none is taken
   * while it is closed. Trouble with NATS never ends it.
   *
   * Errors with {@link StreamDiverged} when the checkpoint's message is no longer in the stream.
   */
  batchesAfter(checkpoint: Checkpoint, gate: Gate): Observable<MessageBatch>;
  status(): SourceStatus;
}

/** The one consumer of one stream: ordered, unfiltered, its position owned by us (MESSAGES.md, Consumption). */
export function createMessageSource(options: MessageSourceOptions): MessageSource {
  const { stream, jsm, clock, logger, through = Number.POSITIVE_INFINITY } = options;
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
  let actor: Actor<typeof messageSourceMachine> | null = null;

  function batchesAfter(from: Checkpoint, gate: Gate): Observable<MessageBatch> {
    return new Observable<MessageBatch>((subscriber) => {
      const ending = new AbortController();
      counts.position = from.position;
      counts.freshAsOfMs = null;
      seenEnd = null;
      const reading = follow(from, { subscriber, gate, signal: ending.signal });
      actor = reading;
      reading.subscribe({
        complete: () => {
          const fault = reading.getSnapshot().output?.fault ?? null;
          if (fault === null) subscriber.complete();
          else subscriber.error(fault);
        },
        error: (error) => subscriber.error(error),
      });
      reading.start();
      return () => {
        ending.abort();
        reading.stop();
      };
    });
  }

  /** One subscription: a consumer's life after another, each from where the one before has ended. */
  function follow(from: Checkpoint, recipient: Recipient): Actor<typeof messageSourceMachine> {
    const { signal } = recipient;
    let checkpoint = from;
    let isReported = false;

    async function verify() {
      const askedAtMs = clock.monotonicMs();
      const verified = await verifySource(jsm, stream, checkpoint);
      if (signal.aborted) return;
      checkpoint = { ...checkpoint, streamCreated: verified.created };
      if (verified.firstSequence > checkpoint.position + 1)
        checkpoint = await skipGap(checkpoint, verified.firstSequence - 1, recipient);
      if (signal.aborted) return;
      onEndSeen(verified.lastSequence, askedAtMs);
      isReported = false;
    }

    async function consumeOnce(): Promise<'interrupted' | 'ended'> {
      if (checkpoint.position >= through) return 'ended';
      // What is not in the stream any more was skipped, so its creation time is known.
      await consume(checkpoint, checkpoint.streamCreated ?? '', recipient, (reached) => {
        checkpoint = reached;
      });
      return checkpoint.position >= through ? 'ended' : 'interrupted';
    }

    return createActor(
      messageSourceMachine.provide({
        actors: {
          verify: fromPromise(verify),
          consume: fromPromise(consumeOnce),
          recreate: fromPromise(recreate),
        },
        guards: { isFault: (_, { error, fault }) => isFault(error, fault) },
        actions: {
          noteInterruption: () => {
            counts.interruptions++;
            counts.lastSequence = null;
          },
          report: (_, { error }) => {
            counts.lastSequence = null;
            if (!isReported) logger.warn({ stream, err: error }, 'stream cannot be read; retrying');
            isReported = true;
          },
        },
      }),
    );
  }

  async function recreate() {
    await options.onMissing?.().catch((error: unknown) => {
      logger.warn({ stream, err: error }, 'the missing stream cannot be created; retrying');
    });
  }

  /**
   * Retention, a purge or a deletion removed the messages through a sequence. What is stored of them takes their place; the rest stays
   * unknown, and is told of.
   */
  async function skipGap(from: Checkpoint, through: number, recipient: Recipient): Promise<Checkpoint> {
    const { gate, signal } = recipient;
    const streamCreated = from.streamCreated ?? '';
    const behind = (position: number) => ({ streamCreated: from.streamCreated, position, digest: null });
    const emitThrough = (position: number, stored: readonly StoredReading[]) =>
      emit(
        {
          messages: [],
          stored,
          streamCreated,
          position,
          weight: stored.length * messageOverheadBytes,
          checkpoint: () => behind(position),
        },
        recipient,
      );
    let storedCount = 0;
    for await (const stored of options.readStored?.(from.position, through) ?? []) {
      if (!gate.isOpen) await gate.opened(signal);
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

  function emit(batch: MessageBatch, { subscriber, gate }: Recipient) {
    counts.position = batch.position;
    gate.enter(batch.weight);
    subscriber.next(batch);
    actor?.send({ type: 'progressed' });
    if (counts.lastSequence !== null) counts.lastSequence = Math.max(counts.lastSequence, batch.position);
    if (seenEnd === null || batch.position < seenEnd.sequence) return;
    counts.freshAsOfMs = seenEnd.atMs;
    seenEnd = null;
    actor?.send({ type: 'caughtUp' });
  }

  function onEndSeen(sequence: number, atMs: number) {
    counts.lastSequence = Math.max(sequence, counts.position);
    if (counts.position >= sequence) {
      counts.freshAsOfMs = atMs;
      seenEnd = null;
      actor?.send({ type: 'caughtUp' });
    } else seenEnd ??= { sequence, atMs };
  }

  /** One life of one ordered consumer, until something interrupts it; tells at its end, however it ends, what was reached. */
  async function consume(
    from: Checkpoint,
    streamCreated: string,
    recipient: Recipient,
    onEnded: (reached: Checkpoint) => void,
  ): Promise<void> {
    const { gate, signal } = recipient;
    const consumer = await options.js.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: from.position + 1,
      inactive_threshold: 30_000,
    });
    const delivered = await consumer.consume({ max_messages: pulls.messages, expires: pullExpiresMs });
    let pending: JsMsg[] = [];
    let pendingBytes = 0;
    /** The checkpoint of what was handed over last. */
    let reached = () => from;
    const watch = watchConsumption({
      ...options,
      delivered,
      signal,
      isHeldBack: () => !gate.isOpen,
      reached: () => reached(),
      onEndSeen,
      onUnknown: () => {
        counts.lastSequence = null;
      },
    });
    // The verification before may have found the end already.
    if (counts.lastSequence !== null && counts.position >= counts.lastSequence)
      actor?.send({ type: 'caughtUp' });

    const emitPending = () => {
      const newest = pending.at(-1);
      if (newest === undefined || signal.aborted) return;
      const [messages, weight] = [pending, pendingBytes + pending.length * messageOverheadBytes];
      pending = [];
      pendingBytes = 0;
      const checkpoint = () => createCheckpoint(streamCreated, newest);
      reached = checkpoint;
      emit({ messages, stored: [], streamCreated, position: newest.seq, weight, checkpoint }, recipient);
    };

    try {
      let expected = from.position + 1;
      for await (const message of delivered) {
        if (signal.aborted) break;
        if (message.seq > through) {
          emitPending();
          counts.position = through;
          const behind = { ...reached(), position: through };
          reached = () => behind;
          return;
        }
        if (message.seq !== expected) {
          emitPending();
          const behind = await skipExplainedGap(reached(), expected, message.seq, recipient);
          reached = () => behind;
          if (signal.aborted) break;
        }
        expected = message.seq + 1;
        pending.push(message);
        pendingBytes += message.data.length;
        // Messages that came in one turn of the event loop are handed over together, at its end.
        if (pending.length === 1) setImmediate(emitPending);
        if (pending.length >= batchMessagesMax || pendingBytes >= batchBytesMax) {
          emitPending();
          await nextTurn();
        }
        if (message.seq === through) break;
        if (pulls.observe(message.data.length)) {
          watch.end(`messages of ${message.data.length} bytes: ${pulls.messages} are asked for at a time`);
          break;
        }
        if (!gate.isOpen) {
          emitPending();
          await gate.opened(signal);
        }
      }
      emitPending();
      watch.throwFailure();
      const removedThrough = watch.removedThrough();
      if (removedThrough !== null && !signal.aborted) {
        const behind = await skipGap(reached(), removedThrough, recipient);
        reached = () => behind;
      }
    } finally {
      pending = []; // Not handed over: read once more by the next life.
      onEnded(reached());
      watch.stop();
      delivered.stop();
      consumer.delete().catch(() => undefined); // It is gone already, or goes by itself after its threshold.
      if (!signal.aborted)
        logger.info(
          { stream, position: counts.position, reason: watch.reason() },
          'consumption is restarted',
        );
    }
  }

  /** A jump in the sequences is passed when the stream explains it; else the fold stands still before it. */
  async function skipExplainedGap(
    from: Checkpoint,
    expected: number,
    received: number,
    recipient: Recipient,
  ): Promise<Checkpoint> {
    const explanation = received > expected ? await explainGap(jsm, stream, expected, received - 1) : null;
    if (explanation === null) {
      throw new UnexplainedGap(
        `${stream}: message ${expected} was expected and ${received} came, and the stream does not say why`,
      );
    }
    if (explanation === 'removed') return skipGap(from, received - 1, recipient);
    const missed = received - expected;
    counts.missedMessages += missed;
    logger.warn({ stream, fromSequence: expected, toSequence: received - 1, missed }, missedText);
    return from;
  }

  function state(): MessageSourceState {
    const value = actor?.getSnapshot().value ?? 'verifying';
    if (typeof value === 'string') return value;
    return 'consuming' in value ? value.consuming : 'missing';
  }

  function status(): SourceStatus {
    return { ...counts, state: state() };
  }

  return { batchesAfter, status };
}

function isFault(error: unknown, fault: SourceFault): boolean {
  if (fault === 'diverged') return error instanceof StreamDiverged;
  if (fault === 'gap') return error instanceof UnexplainedGap;
  return isStreamMissing(error);
}

/** Where the batches of one subscription go. */
interface Recipient {
  readonly subscriber: Subscriber<MessageBatch>;
  readonly gate: Gate;
  readonly signal: AbortSignal;
}

const missedText =
  'messages are no longer in the stream (retention, a purge or a deletion); what is not stored of them stays unknown';

function createCheckpoint(streamCreated: string | null, message: JsMsg): Checkpoint {
  const digest = digestMessage(message.subject, message.timestampNanos, message.data);
  return { streamCreated, position: message.seq, digest };
}
