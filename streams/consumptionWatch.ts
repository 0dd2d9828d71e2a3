import type { ConsumerMessages, ConsumerNotification, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Checkpoint } from './checkpoint.ts';
import { checkIdentity, StreamDiverged } from './sourceVerification.ts';
import type { StreamName } from './subjects.ts';

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

export interface ConsumptionWatchParts {
  readonly connection: NatsConnection;
  readonly jsm: JetStreamManager;
  readonly stream: StreamName;
  readonly delivered: ConsumerMessages;
  readonly signal: AbortSignal;
  readonly hasRoom: () => boolean;
  /** The checkpoint of the last message that was handed over. */
  readonly reached: () => Checkpoint;
  readonly onLastSequence: (lastSequence: number) => void;
}

export interface ConsumptionWatch {
  /** What ended the consumption. */
  reason(): string;
  /** @throws StreamDiverged when the stream turned out to be another one. */
  throwFailure(): void;
  stop(): void;
}

/**
 * Ends one life of a consumer at the first sign of trouble. Consumers die quietly (design, section 1, point 7), so
 * every notification, the connection's state and the stream itself are watched, and what follows is always the
 * same: stop, verify, begin anew.
 */
export function watchConsumption(parts: ConsumptionWatchParts): ConsumptionWatch {
  const { connection, jsm, stream, delivered, signal } = parts;
  let reason: string | null = null;
  let failure: StreamDiverged | null = null;

  const end = (why: string) => {
    if (reason === null) reason = why;
    delivered.stop();
  };

  const connectionStates = connection.status();
  void (async () => {
    for await (const status of connectionStates) {
      if (status.type === 'disconnect' || status.type === 'reconnect') end(`connection: ${status.type}`);
    }
  })();
  void (async () => {
    for await (const notification of delivered.status()) {
      if (!harmless.has(notification.type)) end(`consumer: ${notification.type}`);
    }
  })();
  const onAbort = () => end('stopped');
  signal.addEventListener('abort', onAbort);

  let progress = { position: parts.reached().position, sinceMs: performance.now() };
  const inspect = async () => {
    // Taken before the question: what arrives while it is on its way must not look like a shorter stream.
    const checkpoint = parts.reached();
    const info = await jsm.streams.info(stream);
    if (reason !== null) return;
    parts.onLastSequence(Math.max(info.state.last_seq, parts.reached().position));
    checkIdentity(stream, info, checkpoint);
    const { position } = parts.reached();
    const isMoving = position !== progress.position || position >= info.state.last_seq || !parts.hasRoom();
    if (isMoving) progress = { position, sinceMs: performance.now() };
    else if (performance.now() - progress.sinceMs > stalledAfterMs) end('delivery stalled');
  };
  const timer = setInterval(() => {
    inspect().catch((error: unknown) => {
      if (!(error instanceof StreamDiverged)) return; // No answer: the connection's state tells the rest.
      failure = error;
      end('stream diverged');
    });
  }, inspectionMs);

  return {
    reason: () => reason ?? 'the consumer ended',
    throwFailure: () => {
      if (failure !== null) throw failure;
    },
    stop: () => {
      clearInterval(timer);
      signal.removeEventListener('abort', onAbort);
      (connectionStates as AsyncIterable<unknown> & { stop?: () => void }).stop?.();
    },
  };
}
