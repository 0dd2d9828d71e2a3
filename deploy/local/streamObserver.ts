import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { createPipelineActors } from '../../actors/settlement/pipelineActors.ts';
import type { Settlement } from '../../actors/settlement/settlementActor.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { emptyCheckpoint } from '../../streams/jetstream/checkpoint.ts';
import { createMessageSource } from '../../streams/jetstream/messageSource.ts';
import { alwaysOpen } from '../../streams/operators/gate.ts';
import { systemClock } from '../systemClock.ts';

/** What an oracle and a reporter find in the streams, by the same definitions as the service. */
export interface StreamObserver {
  /** Work of an observed round; undefined for one that is missing or still open. */
  workOf(roundId: number): bigint | undefined;
  /** When the newest accepted reading was observed (epoch milliseconds); null before the first. */
  newestReadingMs(): number | null;
  /** Counter epoch of that reading. */
  counterEpoch(): string | null;
  settlement(): Settlement;
  /** Resolves when a message of `MINER_PIPELINE` is folded. */
  folded(sequence: number): Promise<void>;
  /** Whether everything that the streams hold is read. */
  isCaughtUp(): boolean;
  stop(): void;
}

export interface StreamObserverOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly installationId: string;
  readonly genesisMs: number;
  readonly logger: Logger;
}

/** Folds the counter and the pipeline stream from their beginnings. */
export function observeStreams(parts: StreamObserverOptions): StreamObserver {
  const { installationId, genesisMs, logger } = parts;
  const counters = createCounterActors({ genesisMs, publicInstallationId: installationId });
  const pipeline = createPipelineActors();
  const work = new Map<number, bigint>();
  let newest: { observedAtMs: number; counterEpoch: string } | null = null;
  let waiting: { sequence: number; resolve: () => void }[] = [];

  function receiveReading(message: StreamMessage) {
    const outcome = counters.receive(message);
    if ('rejection' in outcome || outcome.reading.installationId !== installationId) return;
    newest = outcome.reading;
    const { round } = outcome.closed;
    if (round !== null) work.set(round.roundId, round.workUnits);
  }

  function receivePipeline(message: StreamMessage) {
    pipeline.receive(message);
    const done = waiting.filter(({ sequence }) => sequence <= message.seq);
    waiting = waiting.filter(({ sequence }) => sequence > message.seq);
    for (const { resolve } of done) resolve();
  }

  function follow(stream: InputStreamName, receive: (message: StreamMessage) => void) {
    const source = createMessageSource({
      ...parts,
      stream,
      clock: systemClock,
    });
    const subscription = source.batchesAfter(emptyCheckpoint, alwaysOpen).subscribe({
      next: ({ messages }) => messages.forEach(receive),
      error: (error: unknown) => {
        logger.error({ stream, err: error }, 'the simulation ends: its stream is another one now');
      },
    });
    return { source, subscription };
  }

  const followed = [follow('MINER_COUNTER', receiveReading), follow('MINER_PIPELINE', receivePipeline)];
  return {
    workOf: (roundId) => work.get(roundId),
    newestReadingMs: () => newest?.observedAtMs ?? null,
    counterEpoch: () => newest?.counterEpoch ?? null,
    settlement: () => pipeline.settlement(installationId),
    folded: (sequence) =>
      (followed[1]?.source.status().position ?? 0) >= sequence
        ? Promise.resolve()
        : new Promise((resolve) => waiting.push({ sequence, resolve })),
    isCaughtUp: () =>
      followed.every(({ source }) => {
        const { lastSequence, position } = source.status();
        return lastSequence !== null && position >= lastSequence;
      }),
    stop: () => {
      for (const { subscription } of followed) subscription.unsubscribe();
      for (const { resolve } of waiting.splice(0)) resolve();
    },
  };
}
