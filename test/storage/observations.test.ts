import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import {
  createObservationReader,
  findNewestEvicted,
  oldestStoredReading,
  readStored,
} from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { cutRuns, type LineageRuns, openEnd } from '../../storage/runs/lineages.ts';
import { readings as readingTable } from '../../storage/tables/readings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { countSelects } from '../support/storage/countSelects.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';

const neverAborted = new AbortController().signal;
const oneRun: LineageRuns = [{ run: 'run', through: openEnd }];
const everPosition = Number.MAX_SAFE_INTEGER;

const buildReadings = (from: number, through: number, of: Partial<CounterReading> = {}) =>
  Array.from({ length: through - from + 1 }, (_, at) => acceptedReading({ position: from + at, ...of }));

/** Readings of a stream that has lost messages since: another reading at each position. */
const lostReadings = (from: number, through: number) =>
  buildReadings(from, through).map((reading) => ({
    ...reading,
    telemetryId: reading.telemetryId.replace('aaaaaaaa', 'ffffffff'),
  }));

/** Memory that holds the newest readings. */
function recentOf(readings: readonly CounterReading[], retained: number) {
  const recent = createRecentReadings({ storedThrough: () => everPosition, retained });
  for (const reading of readings) recent.add(reading);
  return recent;
}

describe('observations of any age', () => {
  it('are read ten pages at once for a client that reads page after page', async () => {
    const { database: real } = await openTables();
    const readings = buildReadings(1, 60);
    await storeRows(real, { readings });
    const { database, count } = countSelects(real, `FROM ${readingTable.name}`);
    const reader = createObservationReader({
      recent: recentOf(readings, 1),
      database,
      awaitRows: async () => oneRun,
    });
    const counts: number[] = [];
    for (let after = 0; after < 50; after += 2) {
      const page = await reader.page('wheel-1', after, 2, neverAborted);
      expect(page).toEqual({ items: readings.slice(after, after + 2), more: true });
      counts.push(count());
    }
    // A client with a cursor reads on.
    expect([counts[0], counts[1], counts[10], counts[11], counts[20], counts[21]]).toEqual([
      1, 2, 2, 3, 3, 4,
    ]);
  });

  it('are complete while a batch that was sent twice is not merged, and gone once they are too old', async () => {
    const { database } = await openTables();
    const readings = buildReadings(1, 30, { receivedAtMs: 10_000_000 });
    for (let time = 0; time < 2; time++) await storeRows(database, { readings });
    let oldestMs = 0;
    const reader = createObservationReader({
      recent: recentOf(readings, 1),
      database,
      awaitRows: async () => oneRun,
      oldestReadingMs: () => oldestMs,
    });
    const read = () => reader.page('wheel-1', 0, 20, neverAborted);
    expect(await read()).toEqual({ items: readings.slice(0, 20), more: true });
    oldestMs = 20_000_000;
    expect(await read()).toEqual({ items: readings.slice(-1), more: false });
  });

  it('are read once and in order over the border of runs, each page of one lineage', async () => {
    const { database: real } = await openTables();
    let onStatement = () => {};
    const select: Database['select'] = async (...query) => {
      const found = await real.select(...query);
      onStatement();
      return found;
    };
    const database = { ...real, select };
    const begins = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        begins,
        fc.nat(5),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 9 }),
        async (unsorted, lost, limit, moveAfter) => {
          await database.command(`TRUNCATE TABLE ${readingTable.name}`);
          let runs: LineageRuns = [];
          const positions = [0, ...unsorted.sort((a, b) => a - b)];
          for (const [at, position] of positions.entries()) {
            const run = `run ${at}`;
            runs = [...cutRuns(runs, position), { run, through: openEnd }];
            const end = positions[at + 1] ?? 50;
            await storeRows(database, { readings: buildReadings(position + 1, end) }, run);
            // What it has stored above the state that the next process restored, and a batch that was sent twice.
            await storeRows(database, { readings: lostReadings(end + 1, end + lost) }, run);
            if (at === 1) await storeRows(database, { readings: buildReadings(position + 1, end) }, run);
          }
          // Runs that the lineage does not name: of a replay under way, and of a process that was killed.
          await storeRows(database, { readings: lostReadings(1, 50) }, 'replay');
          const expected = buildReadings(1, 50);
          let shown = { runs, readings: expected };
          const recent = recentOf(expected, 3);
          const reader = createObservationReader({
            recent,
            database,
            awaitRows: async () => shown.runs,
          });
          // During a page, ingest notes that the stream has lost the messages above 25, and this process restores its state.
          const moved = {
            runs: [...cutRuns(runs, 25), { run: 'moved', through: openEnd }],
            readings: [...buildReadings(1, 25), ...lostReadings(26, 50)],
          };
          await storeRows(database, { readings: moved.readings.slice(25) }, 'moved');
          let statements = 0;
          onStatement = () => {
            if (++statements !== moveAfter) return;
            shown = moved;
            recent.reset(47);
            for (const reading of moved.readings.slice(47)) recent.add(reading);
          };
          for (let at = 0, isMore = true; isMore; at += limit) {
            const { readings } = shown;
            const page = await reader.page('wheel-1', at, limit, neverAborted);
            expect(page.items).toEqual(readings.slice(at, at + limit));
            isMore = page.more;
          }
          onStatement = () => {};
          const stored: CounterReading[] = [];
          const after = limit;
          for await (const some of readStored(database, { runs, after, through: 47, oldestMs: null }))
            stored.push(...some);
          expect(stored).toEqual(expected.slice(after, 47));
          expect(await oldestStoredReading(database, runs, null)).toEqual({
            position: 1,
            receivedAtMs: expected[0]?.receivedAtMs,
          });
        },
      ),
      {
        numRuns: 8,
        examples: [
          [[20], 5, 10, 2],
          [[], 0, 5, 2],
        ],
      },
    );
    expect(await oldestStoredReading(database, [], null)).toBeNull();
  });
});

it('a row is awaited unless it may have aged out', () => {
  const floor = { position: 5, evicted: acceptedReading({ position: 5, receivedAtMs: 7 }) };
  expect([7, 8].map((oldestMs) => findNewestEvicted(floor, oldestMs).row === null)).toEqual([false, true]);
});

it('observations of an installation that the fold does not know are answered without ClickHouse', async () => {
  const { database: real } = await openTables();
  await storeRows(real, { readings: [acceptedReading({ position: 1, installationId: 'wheel-1' })] });
  const { database, count } = countSelects(real);
  // After a restart: memory begins behind a snapshot.
  const recent = createRecentReadings({ storedThrough: () => 100 });
  recent.reset(100);
  const reader = createObservationReader({
    recent,
    database,
    awaitRows: async () => oneRun,
    mayHaveReadings: (installationId) => installationId !== 'made-up',
  });
  const find = async (installationId: string) =>
    (await reader.page(installationId, 0, 10, neverAborted)).items.length;
  expect([await find('made-up'), count()]).toEqual([0, 0]);
  expect([await find('wheel-1'), await find('wheel-2')]).toEqual([1, 0]);
  expect(count()).toBeGreaterThan(1);
});
