import { firstValueFrom, Observable, from as rxFrom, Subject, timeout } from 'rxjs';
import { type Actor, createActor, fromPromise } from 'xstate';
import {
  type ConsumptionEnd,
  type MessageSourceState,
  messageSourceMachine,
  missingTimesMax,
} from '../../../machines/messageSourceMachine.ts';
import { type ActorOwner, noOwner } from '../../operators/actorOwner.ts';
import type { Gate } from '../../operators/gate.ts';
import { createDoubts } from '../proofs/doubts.ts';
import type { StreamPosition } from '../proofs/streamPosition.ts';
import type { StreamDiverged } from '../proofs/streamVerifier.ts';
import type { StreamReaderOptions } from '../streamReaderOptions.ts';
import type { BatchRecipient, MessageBatch } from './messageBatch.ts';
import { createMissingMessages, type MissingMessagesOptions } from './missingMessages.ts';
import { runOrderedConsumer } from './orderedConsumer.ts';
import { createSourceProgress, type SourceCounts } from './sourceProgress.ts';

/** The most that is requested ahead of the fold. A stream that takes large messages gets fewer of them. */
export const pullBounds = { messages: 2_000, bytes: 32 * 1024 * 1024 };
/** The least that is requested ahead: one message is read while the next one is on its way. */
const pulledMin = 2;
/** Time limits for an answer about the stream, in the first and in later attempts. The client itself gives up after five seconds. */
const answerMs = { short: 750, long: 6_000 } as const;
const shortAttempts = 16;

export interface SourceStatus extends SourceCounts {
  readonly state: MessageSourceState;
}

interface MessageSourceOptions extends StreamReaderOptions, Pick<MissingMessagesOptions, 'readStored'> {
  /** Called while the stream does not exist, to create it or to find out why it is gone. */
  readonly onMissing?: () => Promise<unknown>;
  /** The messages end with this sequence; without it they never end. */
  readonly through?: number;
}

export interface MessageSource {
  /**
   * Emits the stream's messages after `streamPosition`, in order and without an unexplained gap, until the last requested one. Each batch enters
   * the gate, and a closed gate stops reading. Failures of NATS never end it.
   *
   * Errors with {@link StreamDiverged} when the stream position's message is no longer in the stream.
   *
   * @param owner of its machine; `noOwner` by default.
   */
  batchesAfter(streamPosition: StreamPosition, gate: Gate, owner?: ActorOwner): Observable<MessageBatch>;
  /** Emits the position whenever it turns out to be the end of the stream. */
  readonly ends$: Observable<number>;
  status(): SourceStatus;
}

/** The only consumer of a stream: ordered, unfiltered, with a position that this service stores (ARCHITECTURE.md). */
export function createMessageSource(options: MessageSourceOptions): MessageSource {
  const { stream, verifier, logger, through = Number.POSITIVE_INFINITY } = options;
  const progress = createSourceProgress();
  const ends$ = new Subject<number>();
  /** The machine of the newest subscription. */
  let actor: Actor<typeof messageSourceMachine> | null = null;

  function batchesAfter(from: StreamPosition, gate: Gate, owner = noOwner): Observable<MessageBatch> {
    return new Observable<MessageBatch>((subscriber) => {
      const ending = new AbortController();
      progress.restartAfter(from.position);
      const source = createSourceActor(from, owner, {
        gate,
        signal: ending.signal,
        emit: (batch) => {
          gate.enter(batch.weight);
          subscriber.next(batch);
          source.send({ type: 'progressed' });
          if (progress.advance(batch.position)) source.send({ type: 'caughtUp' });
        },
      });
      actor = source;
      source.subscribe({
        complete: () => {
          const fault = source.getSnapshot().output?.fault ?? null;
          if (fault === null) subscriber.complete();
          else subscriber.error(fault);
        },
        error: (error) => subscriber.error(error),
      });
      source.start();
      return () => {
        ending.abort();
        owner.end(source);
      };
    });
  }

  /** Creates the machine of one subscription, which runs one consumer after another, each from where the previous one ended. */
  function createSourceActor(
    from: StreamPosition,
    owner: ActorOwner,
    recipient: BatchRecipient,
  ): Actor<typeof messageSourceMachine> {
    const createMissing = () => createMissingMessages({ ...options, progress, recipient });
    const doubts = createDoubts(verifier);
    let streamPosition = from;
    let pulledMessages = pulledMin;
    let isReported = false;

    const onCaughtUp = () => source.send({ type: 'caughtUp' });
    function onEndSeen(sequence: number, atMs: number) {
      if (!progress.noteEnd(sequence, atMs)) return;
      onCaughtUp();
      ends$.next(progress.counts.position);
    }

    async function verify() {
      await answerSoon(doubts.settle());
      const answer = await answerSoon(verifier.verify(streamPosition));
      if (recipient.signal.aborted) return;
      const { info, askedAtMs } = answer;
      progress.verifiedAt(askedAtMs);
      const mostMessages = Math.min(pullBounds.messages, pullBounds.bytes / info.messageBytesMax);
      // A server with a small `max_pending` cuts off a client that it owes too much.
      pulledMessages = Math.max(pulledMin, Math.floor(mostMessages / 2 ** source.getSnapshot().context.cuts));
      streamPosition = { ...streamPosition, streamCreated: info.created };
      const removedThrough = verifier.findRemoved(answer, streamPosition);
      if (removedThrough !== null)
        streamPosition = await createMissing().skipRemoved(streamPosition, removedThrough);
      if (recipient.signal.aborted) return;
      onEndSeen(info.lastSequence, askedAtMs);
      isReported = false;
    }

    async function consume(): Promise<ConsumptionEnd> {
      if (streamPosition.position >= through) return 'ended';
      let outcome: ConsumptionEnd = 'interrupted';
      await runOrderedConsumer(streamPosition, {
        ...options,
        through,
        pulledMessages,
        progress,
        recipient,
        missing: createMissing(),
        doubts,
        answerSoon,
        onEndSeen,
        onCaughtUp,
        onEnded: (reached, isCut) => {
          streamPosition = reached;
          if (isCut) outcome = 'cut';
        },
      });
      return streamPosition.position >= through ? 'ended' : outcome;
    }

    /**
     * A cluster that has just lost a server may leave a request unanswered, although it would answer the next one. So attempts are short while an
     * election may last, up to nine seconds. Then slow servers get more time.
     */
    function answerSoon<Answer>(asked: Promise<Answer>): Promise<Answer> {
      const { failures } = source.getSnapshot().context;
      const waitMs = failures < shortAttempts ? answerMs.short : answerMs.long;
      return firstValueFrom(rxFrom(asked).pipe(timeout(waitMs)));
    }

    async function recreate() {
      await options.onMissing?.().catch((error: unknown) => {
        if (source.getSnapshot().context.missingTimes === missingTimesMax)
          logger.warn({ stream, err: error }, 'the missing stream cannot be created; retrying');
      });
    }

    const source = createActor(
      messageSourceMachine.provide({
        actors: {
          verify: fromPromise(verify),
          consume: fromPromise(consume),
          recreate: fromPromise(recreate),
        },
        actions: {
          noteInterruption: progress.addInterruption,
          report: (_, { error }) => {
            progress.forgetEnd();
            if (!isReported) logger.warn({ stream, err: error }, 'stream cannot be read; retrying');
            isReported = true;
          },
        },
      }),
      { id: 'source', input: { label: stream }, ...owner.options },
    );
    return source;
  }

  function state(): MessageSourceState {
    const value = actor?.getSnapshot().value ?? 'verifying';
    if (typeof value === 'string') return value;
    return 'consuming' in value ? value.consuming : 'missing';
  }

  return { batchesAfter, ends$, status: () => ({ ...progress.counts, state: state() }) };
}
