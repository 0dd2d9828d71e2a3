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

/** A delivery that waits for no proof. */
const ended = { reason: () => 'ended' };

/** Handles messages missing from a stream that begins at 5 and holds no 7; the readings 3 and 4 are stored. */
function start(world = { deleted: [7] }) {
  const ending = new AbortController();
  const emitted: MessageBatch[] = [];
  const progress = createSourceProgress();
  progress.restartAfter(2);
  const asked: number[][] = [];
  const jetStream = {
    info: async () => streamInfo({ firstSequence: 5, lastSequence: 9, ...world }),
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
    emitted.map(({ position, stored, weight, streamPosition: at }) => [
      position,
      stored.length,
      weight,
      at().position,
    ]);
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
  // Deleted ones have no row that would replace them, and the stream position before them stays verifiable.
  const at = { ...from, position: 6 };
  await expect(missing.skipGap(at, 7, 8, ended)).rejects.toThrow(NotProven);
  expect([await missing.skipGap(at, 7, 8, ended), progress.counts.missedMessages]).toEqual([at, 1]);
  await expect(missing.skipGap(at, 7, 9, ended)).rejects.toThrow(
    'MINER_COUNTER: message 7 was expected and 9 arrived, and the stream has no explanation',
  );
  await expect(missing.skipGap(at, 7, 6, ended)).rejects.toThrow('message 7 was expected and 6 arrived');
  await expect(missing.skipGap(from, 3, 6, ended)).rejects.toThrow('the stream has no explanation');
  expect(batches()).toEqual([]);
  await expect(missing.skipGap(from, 3, 5, ended)).rejects.toThrow(NotProven);
  expect(await missing.skipGap(from, 3, 5, ended)).toMatchObject({ position: 4 });
  expect([batches().length, progress.counts.missedMessages]).toEqual([2, 1]);
});

it('one proof covers the deletions that all its answers list, and no others', async () => {
  const world = { deleted: [6, 7, 9] };
  const { missing, progress } = start(world);
  const at = { ...from, position: 5 };
  await expect(missing.skipGap(at, 6, 8, ended)).rejects.toThrow(NotProven);
  expect(missing.passDeleted(6, 8)).toBe(false);
  world.deleted = [6, 7, 8, 11, 12];
  expect(await missing.skipGap(at, 6, 8, { reason: () => null })).toEqual(at);
  expect([missing.passDeleted(6, 7), missing.passDeleted(6, 8), progress.counts.missedMessages]).toEqual([
    true,
    true,
    5,
  ]);
  // The second answer refuted 9, and the first one did not list the others.
  expect([missing.passDeleted(9, 10), missing.passDeleted(8, 9), missing.passDeleted(11, 13)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(missing.passDeleted(7, 6)).toBe(false);
  await expect(missing.skipGap(at, 11, 13, ended)).rejects.toThrow(NotProven);
  await expect(missing.skipGap(at, 9, 10, ended)).rejects.toThrow('the stream has no explanation');
});

it('a gap waits for its proof while messages are delivered', async () => {
  const { missing, progress } = start();
  const at = { ...from, position: 6 };
  await missing.skipGap(at, 7, 8, { reason: () => null });
  expect(progress.counts.missedMessages).toBe(1);
});

it('stored readings do not replace a deleted end of the stream', async () => {
  const { missing, progress, asked, batches } = start();
  const at = { ...from, position: 8 };
  expect(await missing.skipRemoved(at, 9, { isDeleted: true })).toMatchObject({ position: 9 });
  expect([asked, batches(), progress.counts.missedMessages]).toEqual([[], [[9, 0, 0, 9]], 1]);
});

it('a source that ends meanwhile misses nothing, and continues from what it has emitted', async () => {
  const { missing, ending, progress, batches } = start();
  ending.abort();
  expect(await missing.skipRemoved(from, 6)).toMatchObject({ position: 2 });
  expect([batches(), progress.counts.missedMessages]).toEqual([[], 0]);
});
