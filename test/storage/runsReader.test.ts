import { expect, it } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { createAwaitRows } from '../../storage/reading/awaitRows.ts';
import { findNewestEvicted } from '../../storage/reading/observations.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { createRunsReader } from '../../storage/runs/runsReader.ts';
import { manualClock } from '../support/manualClock.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { countSelects } from '../support/storage/countSelects.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

const stream = 'MINER_COUNTER';
/** The time may be over while ClickHouse is asked once more. */
const isMissing = /does not hold the older readings yet|does not answer/;
const identity = { foldVersion: 1, configuration: 'ours' };

/** A reader of lineages that a test notes. */
async function openReader() {
  const { database } = await openTables();
  const clock = manualClock();
  const counted = countSelects(database, 'FROM lineages');
  const readRuns = createRunsReader({ database: counted.database, stream, identity, clock });
  let step = 0;
  return {
    database,
    clock,
    readRuns,
    reads: counted.count,
    note: (runs: Lineage['runs'], change: Partial<Lineage> = {}) =>
      noteLineage(database, { ...someLineage, stream, runs, step: ++step, ...change }, 0),
  };
}

const first = [{ run: 'first', through: openEnd }];
const second = [
  { run: 'first', through: 3 },
  { run: 'second', through: openEnd },
];

it('a reader relies on a lineage for five seconds', async () => {
  const { clock, readRuns, reads, note } = await openReader();
  expect(await readRuns()).toEqual([]);
  await note(first);
  expect([await readRuns(), await readRuns(true)]).toEqual([[], first]);
  await note(second);
  clock.advance(4_999);
  expect([await readRuns(), reads()]).toEqual([first, 2]);
  clock.advance(1);
  expect([await readRuns(), await readRuns(), reads()]).toEqual([second, second, 3]);
});

it('a replica looks for the newest evicted entry once, and in the newer lineage if needed', async () => {
  const { database, readRuns, reads, note } = await openReader();
  await note(first);
  const counted = countSelects(database);
  const what = 'the older readings';
  const awaitRows = createAwaitRows({ database: counted.database, writer: null, readRuns, what });
  const reading = (position: number, telemetryId: string) =>
    acceptedReading({ position, telemetryId: `${telemetryId.repeat(8)}-0000-4000-8000-000000000000` });
  /** Asks once memory has evicted readings through one. */
  const ask = async (evicted: CounterReading, signal = new AbortController().signal) => {
    const row = findNewestEvicted({ position: evicted.position, evicted }, null);
    return [await awaitRows(row, signal), counted.count(), reads()];
  };
  const [two, five] = [reading(2, 'a'), reading(5, 'b')];
  await storeRows(database, { readings: [two] }, 'first');
  expect(await ask(two)).toEqual([first, 1, 1]);
  expect(await ask(two)).toEqual([first, 1, 1]);
  // Another process has made the end again, in a run of its own.
  await storeRows(database, { readings: [five] }, 'second');
  await note(second);
  expect(await ask(five)).toEqual([second, 3, 2]);
  // A newer lineage may lack what an older one has.
  expect(await ask(two)).toEqual([second, 4, 2]);
  const third = [{ run: 'third', through: openEnd }];
  await note(third);
  await readRuns(true);
  await expect(ask(five, AbortSignal.timeout(100))).rejects.toThrow(isMissing);
  await storeRows(database, { readings: [five] }, 'third');
  expect((await ask(five))[0]).toEqual(third);
  // Another reading at the same position is of messages that the stream has lost, and rows of a run that does not count are none.
  await storeRows(database, { readings: [reading(7, 'c')] }, 'third');
  await storeRows(database, { readings: [reading(7, 'd')] }, 'first');
  await expect(ask(reading(7, 'd'), AbortSignal.timeout(100))).rejects.toThrow(isMissing);
});
