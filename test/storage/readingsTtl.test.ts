import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { createAwaitRows } from '../../storage/reading/awaitRows.ts';
import { createObservationReader } from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import {
  applyReadingsTtl,
  createOldestReadingMs,
  readReadingsGoneBeforeMs,
  readReadingsTtlDays,
} from '../../storage/rows/readingsTtl.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { storedRows } from '../support/storage/readingRows.ts';

const dayMs = 86_400_000;
const days = 40;
const neverAborted = new AbortController().signal;
const runs = [{ run: 'run', through: openEnd }];

async function opened() {
  const { database } = await openTables();
  /** Stores a reading of a given time, and a row of each other kind. */
  const store = async (position: number, timeMs: number) => {
    const installationId = 'wheel.one';
    const [bucket] = storedRows(60, 1).buckets as [BucketRow];
    await storeRows(database, {
      readings: [acceptedReading({ installationId, position, observedAtMs: timeMs, receivedAtMs: timeMs })],
      rounds: [{ installationId, roundId: position, startMs: timeMs, workUnits: 1n, position }],
      buckets: [{ ...bucket, installationId, startMs: timeMs, position }],
    });
  };
  /** Positions of the rows of a table that remain after ClickHouse has merged. */
  const merged = async (table = readings.name) => {
    await database.command(`OPTIMIZE TABLE ${table} FINAL`);
    const rows = await database.select(`SELECT position FROM ${table} ORDER BY position`);
    return rows.map(([position]) => Number(position));
  };
  return { database, store, merged };
}

it('readings alone leave after their days, and stay without the setting', async () => {
  const { database, store, merged } = await opened();
  const nowMs = Date.now();
  await store(1, nowMs - (days + 3) * dayMs);
  await store(2, nowMs - days * dayMs);
  await store(3, nowMs);
  await store(4, Date.UTC(2_250, 0, 1));
  await store(5, Date.UTC(9_999, 0, 1));
  await store(6, Date.UTC(1, 0, 1));
  const apply = async (next: number) => {
    await applyReadingsTtl(database, { days: next, nowMs: Date.now() });
    return readReadingsTtlDays(database);
  };
  expect(await apply(0)).toBe(0);
  expect(await merged()).toEqual([1, 2, 3, 4, 5, 6]);
  for (let time = 0; time < 2; time++) expect(await apply(days)).toBe(days);
  expect(await merged()).toEqual([2, 3, 4, 5]);
  for (const { name } of [rounds, halfHourBuckets]) expect(await merged(name)).toEqual([1, 2, 3, 4, 5, 6]);
  const tables = await database.select("SELECT name FROM system.tables WHERE engine_full LIKE '% TTL %'");
  expect(tables).toEqual([[readings.name]]);
  expect(await apply(days + 1)).toBe(days + 1);
  expect(await apply(0)).toBe(0);
  await store(1, nowMs - (days + 3) * dayMs);
  expect(await merged()).toEqual([1, 2, 3, 4, 5]);
});

it('rows removed by any TTL count as gone', async () => {
  const { database } = await opened();
  const nowMs = Date.UTC(2026, 0, 31);
  const gone: (number | null)[] = [];
  for (const [index, next] of [0, 40, 50, 45, 0].entries()) {
    const atMs = nowMs + index * dayMs;
    await applyReadingsTtl(database, { days: next, nowMs: atMs });
    const goneMs = await readReadingsGoneBeforeMs(database, atMs);
    gone.push(goneMs === null ? null : (goneMs - nowMs) / dayMs);
  }
  // Forty days were kept until the second day, and forty-five until the fourth.
  expect(gone).toEqual([null, 1 - 40, 2 - 40, 2 - 40, 2 - 40]);
});

it('a page begins with the first row that is still read', async () => {
  const { database, store } = await opened();
  let nowMs = Date.now();
  const oldestReadingMs = createOldestReadingMs(days, () => nowMs);
  for (let position = 1; position <= 9; position++) await store(position, nowMs + position * dayMs);
  const recent = createRecentReadings({ storedThrough: () => 9 });
  recent.reset(9);
  const reader = createObservationReader({
    recent,
    database,
    awaitRows: async () => runs,
    oldestReadingMs,
  });
  const read = async () =>
    (await reader.page('wheel.one', 0, 20, neverAborted)).items.map(({ position }) => position);
  expect(await read()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  nowMs += (days + 3) * dayMs;
  expect(await read()).toEqual([3, 4, 5, 6, 7, 8, 9]);
  await database.command(
    `ALTER TABLE ${readings.name} DELETE WHERE position IN (1, 2) SETTINGS mutations_sync = 1`,
  );
  expect(await read()).toEqual([3, 4, 5, 6, 7, 8, 9]);

  // A replica looks for the newest evicted reading, unless its row may have aged out: nothing below it is read then.
  const awaitRows = createAwaitRows({ database, writer: null, readRuns: async () => runs, what: 'readings' });
  const ask = (position: number, receivedAtMs: number, signal = neverAborted) => {
    const recent = createRecentReadings({ storedThrough: () => position, retained: 0 });
    recent.add(acceptedReading({ installationId: 'wheel.one', position, receivedAtMs }));
    const reader = createObservationReader({ recent, database, awaitRows, oldestReadingMs });
    return reader.page('wheel.one', 0, 20, signal);
  };
  expect(await ask(2, nowMs - (days + 1) * dayMs)).toEqual({ items: [], more: false });
  await expect(ask(10, nowMs, AbortSignal.timeout(100))).rejects.toThrow(StoreUnavailable);
});
