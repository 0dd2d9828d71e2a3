import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { createCounterActors } from '../actors/counterActors.ts';
import { emptyCheckpoint } from '../streams/checkpoint.ts';
import { createMessageSource } from '../streams/messageSource.ts';

/** The observed rounds of one installation, as everyone who reads its counter stream finds them. */
export interface ObservedRounds {
  /** Work of an observed round; undefined for one that is missing or still open. */
  workOf(roundId: number): bigint | undefined;
  /** When the newest accepted reading was observed (epoch milliseconds); null before the first. */
  newestReadingMs(): number | null;
  /** Whether everything that the stream holds is read. */
  isCaughtUp(): boolean;
  stop(): void;
}

export interface ObservedRoundsParts {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly installationId: string;
  readonly genesisMs: number;
  readonly logger: Logger;
}

/** Folds the counter stream from its beginning, by the same definitions as the service. */
export function observeRounds(parts: ObservedRoundsParts): ObservedRounds {
  const { installationId, genesisMs } = parts;
  const actors = createCounterActors({ genesisMs });
  const work = new Map<number, bigint>();
  let newestReadingMs: number | null = null;
  const source = createMessageSource({
    ...parts,
    stream: 'MINER_COUNTER',
    hasRoom: () => true,
    room: () => Promise.resolve(),
  });
  const subscription = source.messagesAfter(emptyCheckpoint).subscribe({
    next: ({ messages }) => {
      for (const message of messages) {
        const outcome = actors.receive(message);
        if ('rejection' in outcome || outcome.reading.installationId !== installationId) continue;
        newestReadingMs = outcome.reading.observedAtMs;
        const { round } = outcome.closed;
        if (round !== null) work.set(round.roundId, round.workUnits);
      }
    },
    error: (error: unknown) => {
      parts.logger.error({ err: error }, 'the simulated settlement ends: its stream is another one now');
    },
  });
  return {
    workOf: (roundId) => work.get(roundId),
    newestReadingMs: () => newestReadingMs,
    isCaughtUp: () => {
      const { lastSequence, position } = source.status();
      return lastSequence !== null && position >= lastSequence;
    },
    stop: () => subscription.unsubscribe(),
  };
}
