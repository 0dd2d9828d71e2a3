import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeliverPolicy, type JetStreamClient, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { firstValueFrom, Observable, from as rxFrom, Subject, type Subscriber, timeout } from 'rxjs';
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
import type { ActorInspector } from '../actorTransitions.ts';
import type { Gate } from '../operators/gate.ts';
import { watchConsumption } from './consumptionWatch.ts';
import { isStreamMissing } from './ensureStreams.ts';
import { createPullSizing } from './pullSizing.ts';
import { explainGap, StreamDiverged, verifySource } from './sourceVerification.ts';
import { digestMessage, type StreamPosition } from './streamPosition.ts';

/**
 * The largest batch, in messages and bytes, a single larger message aside. The event loop turns between two batches, so requests wait for one of them: a
 * message of so many bytes that is as expensive to read as it can be takes about ten milliseconds.
 */
export const batchMessagesMax = 512;
export const batchBytesMax = 256 * 1024;
/** What is requested from the server ahead of the fold. */
export const pullBounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };
/** What a message costs in addition to its bytes while it is in the pipeline, as rows or a rejection; a stored reading costs the same. */
const messageOverheadBytes = 400;
/** A pull expires after this; a deleted consumer is noticed within about the same time. */
const pullExpiresMs = 4_000;
/** How long an answer about the stream is waited for, in the first attempts and in later ones. The client itself gives up after five seconds. */
const answerMs = { short: 750, long: 6_000 } as const;
const shortAttempts = 16;

/** Consecutive messages of a stream. */
export interface MessageBatch {
  /** Empty if everything through `position` has left the stream. */
  readonly messages: readonly StreamMessage[];
  /** Readings whose messages have left the stream, in order of position; they replace the messages. */
  readonly stored: readonly StoredReading[];
  /** Creation time of their stream. */
  readonly streamCreated: string;
  /** Sequence through which everything has been emitted. */
  readonly position: number;
  /** Bytes of its messages. */
  readonly weight: number;
  /** The place after the last message of this batch. */
  place(): StreamPosition;
}

export interface SourceStatus {
  readonly state: MessageSourceState;
  /** Last sequence of the stream; null while it is not known. */
  readonly lastSequence: number | null;
  /** Last sequence that was emitted. */
  readonly position: number;
  /** Messages that retention, a purge or a deletion removed before they were read. */
  readonly missedMessages: number;
  /** How often consumption was interrupted and restarted with a verification. */
  readonly interruptions: number;
  /**
   * Everything that the stream held at this time is emitted (by the monotonic clock); null while nothing is known. It does not advance
   * while the stream cannot be read or is read too slowly.
   */
  readonly freshAsOfMs: number | null;
  /** When the stream was last found to be the one that is followed (by the monotonic clock); null before the first time. */
  readonly verifiedAtMs: number | null;
}

/** Messages are missing, and the stream has no explanation. */
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
  /** Called while the stream does not exist; omitted by processes that only wait for it. */
  readonly onMissing?: () => Promise<void>;
  /** Stored readings of messages that have left the stream, after one sequence through another; omitted for a stream without any. */
  readonly readStored?: (after: number, through: number) => AsyncIterable<readonly StoredReading[]>;
  /** Called with every transition of its machine. */
  readonly inspect?: ActorInspector;
  /** The messages end with this sequence; they never end without it. */
  readonly through?: number;
}

export interface MessageSource {
  /**
   * The stream's messages after `place`, in order and without a gap that the stream does not explain, for as
   * long as the subscription lasts or through the last requested one. Each batch enters the gate, and no messages are read
   * while it is closed. Failures of NATS never end it.
   *
   * Errors with {@link StreamDiverged} when the place's message is no longer in the stream.
   */
  batchesAfter(place: StreamPosition, gate: Gate): Observable<MessageBatch>;
  /** Emits the position whenever the stream was found to hold nothing behind it. */
  readonly ends$: Observable<number>;
  status(): SourceStatus;
}

/** The one consumer of one stream: ordered, unfiltered, its position owned by us (MESSAGES.md, Consumption). */
export function createMessageSource(options: MessageSourceOptions): MessageSource {
  const { stream, jsm, clock, logger, through = Number.POSITIVE_INFINITY } = options;
  const pulls = createPullSizing(pullBounds);
  const ends$ = new Subject<number>();
  const counts = {
    lastSequence: null as number | null,
    position: 0,
    missedMessages: 0,
    interruptions: 0,
    freshAsOfMs: null as number | null,
    verifiedAtMs: null as number | null,
  };
  /** An end of the stream that is not reached yet, and when it was observed. */
  let seenEnd: { readonly sequence: number; readonly atMs: number } | null = null;
  let actor: Actor<typeof messageSourceMachine> | null = null;

  function batchesAfter(from: StreamPosition, gate: Gate): Observable<MessageBatch> {
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

  /** One subscription: one consumer after another, each from where the previous one ended. */
  function follow(from: StreamPosition, recipient: Recipient): Actor<typeof messageSourceMachine> {
    const { signal } = recipient;
    let place = from;
    let isReported = false;

    async function verify() {
      const askedAtMs = clock.monotonicMs();
      const verified = await answerSoon(verifySource(jsm, stream, place));
      if (signal.aborted) return;
      counts.verifiedAtMs = askedAtMs;
      place = { ...place, streamCreated: verified.created };
      if (verified.firstSequence > place.position + 1)
        place = await skipGap(place, verified.firstSequence - 1, recipient);
      if (signal.aborted) return;
      onEndSeen(verified.lastSequence, askedAtMs);
      isReported = false;
    }

    async function consumeOnce(): Promise<'interrupted' | 'ended'> {
      if (place.position >= through) return 'ended';
      // Messages that have left the stream were skipped, so its creation time is known.
      await consume(place, place.streamCreated ?? '', recipient, (reached) => {
        place = reached;
      });
      return place.position >= through ? 'ended' : 'interrupted';
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
      options.inspect && { inspect: options.inspect },
    );
  }

  /**
   * Of a cluster that has just lost a server nobody may answer what the next attempt would be answered, so attempts are short for as long as an
   * election takes, which is up to nine seconds; servers that are merely slow get more time then.
   */
  function answerSoon<Answer>(asked: Promise<Answer>): Promise<Answer> {
    const failures = actor?.getSnapshot().context.failures ?? 0;
    const waitMs = failures < shortAttempts ? answerMs.short : answerMs.long;
    return firstValueFrom(rxFrom(asked).pipe(timeout(waitMs)));
  }

  async function recreate() {
    await options.onMissing?.().catch((error: unknown) => {
      logger.warn({ stream, err: error }, 'the missing stream cannot be created; retrying');
    });
  }

  /**
   * Retention, a purge or a deletion removed the messages through a sequence. Their stored readings replace them; the rest remains
   * unknown, and is logged.
   */
  async function skipGap(
    from: StreamPosition,
    through: number,
    recipient: Recipient,
  ): Promise<StreamPosition> {
    const { gate, signal } = recipient;
    const streamCreated = from.streamCreated ?? '';
    const createWithoutDigest = (position: number) => ({
      streamCreated: from.streamCreated,
      position,
      digest: null,
    });
    const emitThrough = (position: number, stored: readonly StoredReading[]) =>
      emit(
        {
          messages: [],
          stored,
          streamCreated,
          position,
          weight: stored.length * messageOverheadBytes,
          place: () => createWithoutDigest(position),
        },
        recipient,
      );
    let storedCount = 0;
    for await (const stored of options.readStored?.(from.position, through) ?? []) {
      if (!gate.isOpen) await gate.opened(signal);
      if (signal.aborted) return createWithoutDigest(counts.position);
      storedCount += stored.length;
      emitThrough((stored.at(-1) as StoredReading).position, stored);
    }
    const missed = through - from.position - storedCount;
    counts.missedMessages += missed;
    const range = { stream, fromSequence: from.position + 1, toSequence: through };
    logger.warn({ ...range, missed, storedReadings: storedCount }, missedText);
    emitThrough(through, []);
    return createWithoutDigest(through);
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
      ends$.next(counts.position);
    } else seenEnd ??= { sequence, atMs };
  }

  /** Runs one ordered consumer until something interrupts it; however it ends, `onEnded` is called with what was reached. */
  async function consume(
    from: StreamPosition,
    streamCreated: string,
    recipient: Recipient,
    onEnded: (reached: StreamPosition) => void,
  ): Promise<void> {
    const { gate, signal } = recipient;
    const consumer = await answerSoon(
      options.js.consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from.position + 1,
        inactive_threshold: 30_000,
      }),
    );
    const delivered = await consumer.consume({ max_messages: pulls.messages, expires: pullExpiresMs });
    let pending: JsMsg[] = [];
    let pendingBytes = 0;
    /** The place of the last emitted batch. */
    let reached = () => from;
    const watch = watchConsumption({
      ...options,
      delivered,
      signal,
      isHeldBack: () => !gate.isOpen,
      reached: () => reached(),
      onEndSeen,
      onVerified: (atMs) => {
        counts.verifiedAtMs = atMs;
      },
      onUnknown: () => {
        counts.lastSequence = null;
      },
    });
    // The preceding verification may have found the end already.
    if (counts.lastSequence !== null && counts.position >= counts.lastSequence)
      actor?.send({ type: 'caughtUp' });

    const emitPending = () => {
      const newest = pending.at(-1);
      if (newest === undefined || signal.aborted) return;
      const [messages, weight] = [pending, pendingBytes + pending.length * messageOverheadBytes];
      pending = [];
      pendingBytes = 0;
      const place = () => createStreamPosition(streamCreated, newest);
      reached = place;
      emit({ messages, stored: [], streamCreated, position: newest.seq, weight, place }, recipient);
    };

    try {
      let expected = from.position + 1;
      for await (const message of delivered) {
        if (signal.aborted) break;
        if (message.seq > through) {
          emitPending();
          counts.position = through;
          const place = { ...reached(), position: through };
          reached = () => place;
          return;
        }
        if (message.seq !== expected) {
          emitPending();
          const place = await skipExplainedGap(reached(), expected, message.seq, recipient);
          reached = () => place;
          if (signal.aborted) break;
        }
        if (pending.length >= batchMessagesMax || pendingBytes + message.data.length > batchBytesMax) {
          emitPending();
          await nextTurn();
          if (signal.aborted) break;
        }
        expected = message.seq + 1;
        pending.push(message);
        pendingBytes += message.data.length;
        // Messages that arrived in one turn of the event loop are emitted together at its end.
        if (pending.length === 1) setImmediate(emitPending);
        if (message.seq === through) break;
        if (pulls.observe(message.data.length)) {
          watch.end(`messages of ${message.data.length} bytes: ${pulls.messages} are requested at a time`);
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
        const place = await skipGap(reached(), removedThrough, recipient);
        reached = () => place;
      }
    } finally {
      pending = []; // Not emitted: the next consumer reads them again.
      onEnded(reached());
      watch.stop();
      delivered.stop();
      consumer.delete().catch(() => undefined); // Already deleted, or the server deletes it after its threshold.
      if (!signal.aborted)
        logger.info(
          { stream, position: counts.position, reason: watch.reason() },
          'consumption is restarted',
        );
    }
  }

  /** A gap in the sequences is skipped if the stream explains it; otherwise the fold waits before it. */
  async function skipExplainedGap(
    from: StreamPosition,
    expected: number,
    received: number,
    recipient: Recipient,
  ): Promise<StreamPosition> {
    const explanation = received > expected ? await explainGap(jsm, stream, expected, received - 1) : null;
    if (explanation === null) {
      throw new UnexplainedGap(
        `${stream}: message ${expected} was expected and ${received} arrived, and the stream has no explanation`,
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

  return { batchesAfter, ends$, status };
}

function isFault(error: unknown, fault: SourceFault): boolean {
  if (fault === 'diverged') return error instanceof StreamDiverged;
  if (fault === 'gap') return error instanceof UnexplainedGap;
  return isStreamMissing(error);
}

/** What receives the batches of one subscription. */
interface Recipient {
  readonly subscriber: Subscriber<MessageBatch>;
  readonly gate: Gate;
  readonly signal: AbortSignal;
}

const missedText =
  'messages are no longer in the stream (retention, a purge or a deletion); those without a stored reading remain unknown';

function createStreamPosition(streamCreated: string | null, message: JsMsg): StreamPosition {
  const digest = digestMessage(message.subject, message.timestampNanos, message.data);
  return { streamCreated, position: message.seq, digest };
}
