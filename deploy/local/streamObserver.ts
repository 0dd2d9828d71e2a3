import type { Logger } from 'pino';
import { BehaviorSubject, filter, firstValueFrom } from 'rxjs';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { startOfStream } from '../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../../streams/jetstream/source/messageSource.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { createGate } from '../../streams/operators/gate.ts';
import { systemClock } from '../process/systemClock.ts';

export type StreamObserver = ReturnType<typeof observeStreams>;

interface StreamObserverOptions {
  readonly jetStream: StreamPort;
  readonly installationId: string;
  readonly genesisMs: number;
  readonly logger: Logger;
}

/** An oracle's and reporter's view of the streams, by the service's definitions: folds both streams from their beginnings. */
export function observeStreams(options: StreamObserverOptions) {
  const { installationId, genesisMs, logger } = options;
  const counters = createCounterActors({ genesisMs, publicInstallationId: installationId });
  const settlements = createSettlementActors({ genesisMs });
  const work = new Map<number, bigint>();
  let newest: { observedAtMs: number; counterEpoch: string } | null = null;

  function receiveReading(message: StreamMessage) {
    const outcome = counters.receive(message);
    if ('rejection' in outcome) return;
    const { reading, closed } = outcome.output;
    if (reading.installationId !== installationId) return;
    newest = reading;
    const { round } = closed;
    if (round !== null) work.set(round.roundId, round.workUnits);
  }

  function follow(stream: InputStreamName, receive: (message: StreamMessage) => void) {
    const reader = { ...options, stream, clock: systemClock };
    const source = createMessageSource({ ...reader, verifier: createStreamVerifier(reader) });
    const position = new BehaviorSubject(0);
    const subscription = source
      .batchesAfter(startOfStream, createGate({ max: Number.POSITIVE_INFINITY }))
      .subscribe({
        next: (batch) => {
          batch.messages.forEach(receive);
          position.next(batch.position);
        },
        error: (error: unknown) => {
          logger.error({ stream, err: error }, 'the simulation ends: its stream was replaced');
        },
      });
    /** Resolves when everything through a sequence is received, or when it is stopped. */
    const reached = async (sequence: number) => {
      await firstValueFrom(position.pipe(filter((received) => received >= sequence)), { defaultValue: null });
    };
    return {
      reached,
      reachedEnd: async () => reached((await options.jetStream.info(stream)).lastSequence),
      stop: () => {
        subscription.unsubscribe();
        position.complete();
      },
    };
  }

  const counter = follow('MINER_COUNTER', receiveReading);
  const settlement = follow('MINER_PIPELINE', (message) => {
    settlements.receive(message);
  });
  return {
    /** Work of an observed round; undefined for a missing or open round. */
    findWork: (roundId: number) => work.get(roundId),
    /** When the newest accepted reading was observed (epoch milliseconds); null before the first. */
    newestReadingMs: () => newest?.observedAtMs ?? null,
    counterEpoch: () => newest?.counterEpoch ?? null,
    settlement: () => settlements.settlement(installationId),
    /** Resolves when a message of `MINER_PIPELINE` is folded, or when it is stopped. */
    folded: settlement.reached,
    /** Resolves when everything in the streams at the time of the call is read, or when it is stopped. */
    caughtUp: async () => {
      await Promise.all([counter.reachedEnd(), settlement.reachedEnd()]);
    },
    stop: () => {
      counter.stop();
      settlement.stop();
    },
  };
}
