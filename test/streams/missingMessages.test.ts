import { expect, it } from 'vitest';
import { missingDigest } from '../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import type { MessageBatch } from '../../streams/jetstream/source/messageBatch.ts';
import { createMissingMessages } from '../../streams/jetstream/source/missingMessages.ts';
import { createSourceProgress } from '../../streams/jetstream/source/sourceProgress.ts';
import { createGate } from '../../streams/operators/gate.ts';
import { manualClock } from '../support/manualClock.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const from = { streamCreated: 'then', position: 2, digest: 'of 2' };

/** Handles messages missing from a stream that begins at 5 and holds no 7; the readings 3 and 4 are stored. */
function start() {
  const ending = new AbortController();
  const emitted: MessageBatch[] = [];
  const progress = createSourceProgress();
  progress.restartAfter(2);
  const asked: number[][] = [];
  const jetStream = {
    info: async () => streamInfo({ firstSequence: 5, lastSequence: 9, deleted: [7] }),
    message: async () => null,
  };
  const missing = createMissingMessages({
    stream: 'MINER_COUNTER',
    verifier: createStreamVerifier({ jetStream, stream: 'MINER_COUNTER', clock: manualClock() }),
    logger: silentLogger,
    readStored: async function* (after, through) {
      asked.push([after, through]);
      yield [3, 4].map((position) => acceptedReading({ position }));
      yield [];
    },
    progress,
    recipient: {
      gate: createGate({ max: Number.POSITIVE_INFINITY }),
      signal: ending.signal,
      emit: (batch) => {
        emitted.push(batch);
        progress.advance(batch.position);
      },
    },
  });
  const batches = () =>
    emitted.map(({ position, stored, weight, place }) => [position, stored.length, weight, place().position]);
  return { missing, ending, progress, asked, batches };
}

it('stored readings replace removed messages, and only the others are missed', async () => {
  const { missing, progress, asked, batches } = start();
  expect(await missing.skipRemoved(from, 6)).toEqual({ ...from, position: 6, digest: missingDigest });
  expect([asked, batches(), progress.counts.missedMessages]).toEqual([
    [[2, 6]],
    [
      [4, 2, 800, 4],
      [6, 0, 0, 6],
    ],
    2,
  ]);
});

it('a gap is skipped if its messages were removed or deleted, and only then', async () => {
  const { missing, progress, batches } = start();
  // Deleted ones have no row that would replace them, and the place before them stays verifiable.
  const place = { ...from, position: 6 };
  await expect(missing.skipGap(place, 7, 8)).rejects.toThrow(NotProven);
  expect([await missing.skipGap(place, 7, 8), progress.counts.missedMessages]).toEqual([place, 1]);
  await expect(missing.skipGap(place, 7, 9)).rejects.toThrow(
    'MINER_COUNTER: message 7 was expected and 9 arrived, and the stream has no explanation',
  );
  await expect(missing.skipGap(place, 7, 6)).rejects.toThrow('message 7 was expected and 6 arrived');
  expect(batches()).toEqual([]);
  await expect(missing.skipGap(from, 3, 5)).rejects.toThrow(NotProven);
  expect(await missing.skipGap(from, 3, 5)).toMatchObject({ position: 4 });
  expect([batches().length, progress.counts.missedMessages]).toEqual([2, 1]);
});

it('a source that ends meanwhile misses nothing, and continues from what it has emitted', async () => {
  const { missing, ending, progress, batches } = start();
  ending.abort();
  expect(await missing.skipRemoved(from, 6)).toMatchObject({ position: 2 });
  expect([batches(), progress.counts.missedMessages]).toEqual([[], 0]);
});
