import type { ConsumerMessages, ConsumerNotification, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { exhaustMap, filter, from, interval, map, merge } from 'rxjs';
import type { StreamName } from '../../actors/messages/subjects.ts';
import type { Clock } from '../../actors/views/clock.ts';
import { whenAborted } from '../operators/whenAborted.ts';
import type { Checkpoint } from './checkpoint.ts';
import { checkIdentity, explainGap, StreamDiverged } from './sourceVerification.ts';

/** How often the stream's end is looked at, for the lag and for what no notification tells. */
const inspectionMs = 2_000;
/** Lag without any progress for this long means that delivery has stopped, whatever heartbeats say. */
const stalledAfterMs = 15_000;

/** What the client says of itself while all is well. */
const harmless: ReadonlySet<ConsumerNotification['type']> = new Set([
  'next',
  'heartbeat',
  'debug',
  'discard',
  'flow_control',
]);

export interface ConsumptionWatchOptions {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly stream: StreamName;
  readonly clock: Clock;
  readonly delivered: ConsumerMessages;
  readonly signal: AbortSignal;
  readonly isHeldBack: () => boolean;
  /** The checkpoint of the last message that was handed over. */
  readonly reached: () => Checkpoint;
  /** The stream ended there at that time (monotonic). */
  readonly onEndSeen: (lastSequence: number, atMs: number) => void;
  /** Where the stream ends cannot be found out at the moment. */
  readonly onUnknown: () => void;
}

export interface ConsumptionWatch {
  /** Ends the consumption. */
  end(why: string): void;
  /** What ended the consumption. */
  reason(): string;
  /** Sequence through which the stream holds nothing more, where that ended the consumption; null otherwise. */
  removedThrough(): number | null;
  /** @throws StreamDiverged when the stream turned out to be another one. */
  throwFailure(): void;
  stop(): void;
}

/**
 * Ends one life of a consumer at the first sign of trouble. Consumers die quietly (MESSAGES.md, Consumption), so
 * every notification, the connection's state and the stream itself are watched, and what follows is always the
 * same: stop, verify, begin anew.
 */
export function watchConsumption(options: ConsumptionWatchOptions): ConsumptionWatch {
  const { connection, jsm, stream, clock, delivered, signal } = options;
  let reason: string | null = null;
  let removedThrough: number | null = null;
  let failure: StreamDiverged | null = null;

  const end = (why: string) => {
    if (reason === null) reason = why;
    delivered.stop();
  };

  const connectionStates = connection.status();
  const troubles = merge(
    from(connectionStates).pipe(
      filter(({ type }) => type === 'disconnect' || type === 'reconnect'),
      map(({ type }) => `connection: ${type}`),
    ),
    from(delivered.status()).pipe(
      filter(({ type }) => !harmless.has(type)),
      map(({ type }) => `consumer: ${type}`),
    ),
    whenAborted(signal).pipe(map(() => 'stopped')),
  ).subscribe(end);

  let progress = { position: options.reached().position, sinceMs: clock.monotonicMs() };
  const inspect = async () => {
    // Taken before the question: what arrives while it is on its way must not look like a shorter stream.
    const checkpoint = options.reached();
    const askedAtMs = clock.monotonicMs();
    const info = await jsm.streams.info(stream);
    if (reason !== null) return;
    const lastSequence = info.state.last_seq;
    options.onEndSeen(lastSequence, askedAtMs);
    checkIdentity(stream, info, checkpoint);
    const { position } = options.reached();
    const isMoving = position !== progress.position || position >= lastSequence || options.isHeldBack();
    if (isMoving) {
      progress = { position, sinceMs: clock.monotonicMs() };
      return;
    }
    // Nothing came since the last inspection: where the rest of the stream was deleted, nothing will.
    const explanation = await explainGap(jsm, stream, position + 1, lastSequence);
    if (explanation !== null && options.reached().position === position) {
      removedThrough = lastSequence;
      end('the rest of the stream was deleted');
    } else if (clock.monotonicMs() - progress.sinceMs > stalledAfterMs) end('delivery stalled');
  };
  const inspections = interval(inspectionMs)
    .pipe(
      exhaustMap(() =>
        inspect().catch((error: unknown) => {
          // No answer: the connection's state tells the rest.
          if (!(error instanceof StreamDiverged)) return options.onUnknown();
          failure = error;
          end('stream diverged');
        }),
      ),
    )
    .subscribe();

  return {
    end,
    reason: () => reason ?? 'the consumer ended',
    removedThrough: () => removedThrough,
    throwFailure: () => {
      if (failure !== null) throw failure;
    },
    stop: () => {
      inspections.unsubscribe();
      troubles.unsubscribe();
      (connectionStates as AsyncIterable<unknown> & { stop?: () => void }).stop?.();
    },
  };
}
