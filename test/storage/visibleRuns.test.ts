import { expect, it } from 'vitest';
import { createAwaitByReading } from '../../storage/reading/awaitEvents.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { createRunsReader } from '../../storage/runs/visibleRuns.ts';
import { manualClock } from '../support/manualClock.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const stream = 'MINER_COUNTER';
const identity = { foldVersion: 1, configuration: 'ours' };

/** A reader of histories that a test notes. */
async function openReader() {
  const { database } = await openTables();
  const clock = manualClock();
  let reads = 0;
  const select: typeof database.select = (sql, ...query) => {
    if (sql.includes('FROM lineages')) reads++;
    return database.select(sql, ...query);
  };
  const readRuns = createRunsReader({ database: { ...database, select }, stream, identity, clock });
  let step = 0;
  return {
    database,
    clock,
    readRuns,
    reads: () => reads,
    note: (runs: Lineage['runs'], change: Partial<Lineage> = {}) =>
      noteLineage(database, { ...someLineage, stream, runs, step: ++step, ...change }, 0),
  };
}

const first = [{ run: 'first', through: openEnd }];
const second = [
  { run: 'first', through: 3 },
  { run: 'second', through: openEnd },
];

it('a reader relies on a history for five seconds', async () => {
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

it('a reader sees only histories of its own fold', async () => {
  const { readRuns, note } = await openReader();
  await note(first);
  await note(second, { foldVersion: 2 });
  await note(second, { configuration: 'theirs' });
  await note(second, { stream: 'MINER_CHAIN' });
  expect(await readRuns()).toEqual(first);
});

it('a replica reads evicted events of the newer history if needed', async () => {
  const { database, readRuns, reads, note } = await openReader();
  await note(first);
  expect(await readRuns()).toEqual(first);
  const awaitEvents = createAwaitByReading({
    database,
    readRuns: { measurement: readRuns, chain: readRuns },
  });
  const { event } = someRows;
  await storeRows(database, { measurementEvents: [{ ...event, position: 2, storedBy: 2 }] }, 'first');
  const ask = (position: number) => {
    const evicted = {
      through: { position, ordinal: 0 },
      throughMs: event.recordedAtMs,
      atPosition: position,
    };
    return awaitEvents({ source: 'measurement', evicted }, new AbortController().signal);
  };
  expect([await ask(2), reads()]).toEqual([first, 1]);
  // Another process has made the end again, in a run of its own.
  await storeRows(database, { measurementEvents: [{ ...event, position: 5, storedBy: 5 }] }, 'second');
  await note(second);
  expect([await ask(5), reads()]).toEqual([second, 2]);
  // A row of a run that does not count is none.
  await storeRows(database, { measurementEvents: [{ ...event, position: 7, storedBy: 7 }] }, 'first');
  await expect(ask(7)).rejects.toThrow('does not hold the older measurement events yet');
});
