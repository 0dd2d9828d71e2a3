import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { counterStream } from '../../streams/definitions/counterStream.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { genesisMs, storedLateNanos } from '../support/genesis.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { buildBatch } from '../support/readings/buildBatch.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';
import { silentLogger as logger } from '../support/silentLogger.ts';

it('the fold of readings shows a restored state once caught up', () => {
  const deployment = { installationId: 'wheel', genesisTimestamp: genesisMs / 1_000, onChain: null };
  const actors = counterStream.createActors(deployment);
  const recent = createRecentReadings({ storedThrough: () => 0 });
  const registry = new Registry();
  const counts = createMessageCounts(registry);
  const fold = counterStream.createFold(actors, { recent, counts, registry, logger });
  const take = (seq: number, index = seq) => {
    const data = Buffer.from(JSON.stringify(readingMessage('wheel', index)));
    fold.receive(
      buildBatch([{ seq, subject: 'miner.counter.wheel', data, timestampNanos: storedLateNanos }]),
    );
  };
  const shown = () => [
    actors.telemetry('wheel', genesisMs).reading?.sequence,
    recent.floor().position,
    recent.size,
  ];
  take(1);
  take(2);
  const state = [...fold.capture()];
  take(3);
  // A batch of a rejected message.
  take(4, 3);
  expect(shown()).toEqual([3, 0, 3]);
  restoreState(fold, state, 2);
  take(3, 5);
  expect(shown()).toEqual([3, 2, 1]);
  fold.caughtUp?.();
  expect(shown()).toEqual([5, 2, 1]);
  // Stored readings replace messages that have left the stream.
  const stored = [acceptedReading({ position: 6, installationId: 'other' })];
  expect(fold.receive({ ...buildBatch([]), position: 9, stored }).rows.readings).toEqual(stored);
  expect(shown()).toEqual([5, 9, 0]);
});
