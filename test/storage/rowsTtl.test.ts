import { expect, it } from 'vitest';
import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { createAwaitByReading } from '../../storage/reading/awaitEvents.ts';
import { createObservationReader, createStoredThroughQuery } from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import { applyRowsTtl, createOldestRowMs, readRowsGoneBeforeMs } from '../../storage/rows/rowsTtl.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { chainCheckpoints, chainSettlements } from '../../storage/tables/chainSettlements.ts';
import { measurementEvents } from '../../storage/tables/events.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rowTables } from '../../storage/tables/rowTables.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const dayMs = 86_400_000;
const days = 40;
const neverAborted = new AbortController().signal;
const runs = [{ run: 'run', through: openEnd }];
const readRuns = async () => runs;

/** Tables whose rows age, and the others. */
const ageing = rowTables.flatMap(({ agesBy, definition }) => (agesBy === null ? [] : [definition.name]));
const lasting = rowTables.flatMap(({ agesBy, definition }) => (agesBy === null ? [definition.name] : []));

async function opened() {
  const { database } = await openTables();
  /** Stores one row of a given time in each table that ages. */
  const store = async (position: number, timeMs: number) => {
    const installationId = 'wheel.one';
    const [bucket] = storedRows(60, 1).buckets as [BucketRow];
    const place = { id: `event ${position}`, position, storedBy: position, installationId };
    const event = { ...someRows.event, ...place, recordedAtMs: timeMs, arrivedAtMs: timeMs };
    await storeRows(database, {
      readings: [acceptedReading({ installationId, position, observedAtMs: timeMs, receivedAtMs: timeMs })],
      rounds: [{ installationId, roundId: position, startMs: timeMs, workUnits: 1n, position }],
      buckets: [{ ...bucket, installationId, startMs: timeMs, position }],
      measurementEvents: [event],
      chainEvents: [{ ...event, category: 'protocol', installationId: '' }],
    });
  };
  /** Positions of the rows that remain after ClickHouse has merged. */
  const merged = async () => {
    const left = new Map<string, number[]>();
    for (const table of ageing) {
      await database.command(`OPTIMIZE TABLE ${table} FINAL`);
      const rows = await database.select(`SELECT position FROM ${table} ORDER BY position`);
      left.set(
        table,
        rows.map(([position]) => Number(position)),
      );
    }
    return left;
  };
  /** Days for which each table keeps its rows; 0 for ever. */
  const ttls = async (of: readonly string[] = ageing) => {
    const rows = await database.select(
      "SELECT DISTINCT extract(engine_full, 'TTL .*toIntervalDay\\((\\d+)\\)') FROM system.tables WHERE name IN {of:Array(String)}",
      { of },
    );
    return rows.map(([interval]) => (interval === '' ? 0 : Number(interval) - 2));
  };
  return { database, store, merged, ttls };
}

it('rows leave every table after their days, and stay without the setting', async () => {
  const { database, store, merged, ttls } = await opened();
  const nowMs = Date.now();
  await store(1, nowMs - (days + 3) * dayMs);
  await store(2, nowMs - days * dayMs);
  await store(3, nowMs);
  await store(4, Date.UTC(2_250, 0, 1));
  await store(5, Date.UTC(9_999, 0, 1));
  await store(6, Date.UTC(1, 0, 1));
  await applyRowsTtl(database, { days: 0, nowMs: Date.now() });
  expect(await ttls()).toEqual([0]);
  for (const positions of (await merged()).values()) expect(positions).toEqual([1, 2, 3, 4, 5, 6]);
  await applyRowsTtl(database, { days, nowMs: Date.now() });
  expect(await ttls()).toEqual([days]);
  await applyRowsTtl(database, { days, nowMs: Date.now() });
  for (const positions of (await merged()).values()) expect(positions).toEqual([2, 3, 4, 5]);
  expect(lasting).toEqual([ownerActivity.name, chainSettlements.name, chainCheckpoints.name]);
  expect(await ttls(lasting)).toEqual([0]);
  await applyRowsTtl(database, { days: days + 1, nowMs: Date.now() });
  expect(await ttls()).toEqual([days + 1]);
  await applyRowsTtl(database, { days: 0, nowMs: Date.now() });
  expect(await ttls()).toEqual([0]);
  await store(1, nowMs - (days + 3) * dayMs);
  for (const positions of (await merged()).values()) expect(positions).toEqual([1, 2, 3, 4, 5]);
});

it('rows removed by any TTL count as gone', async () => {
  const { database } = await opened();
  const nowMs = Date.UTC(2026, 0, 31);
  const gone: (number | null)[] = [];
  for (const [index, next] of [0, 40, 50, 45, 0].entries()) {
    const atMs = nowMs + index * dayMs;
    await applyRowsTtl(database, { days: next, nowMs: atMs });
    const goneMs = await readRowsGoneBeforeMs(database, atMs);
    gone.push(goneMs === null ? null : (goneMs - nowMs) / dayMs);
  }
  // Forty days were kept until the second day, and forty-five until the fourth.
  expect(gone).toEqual([null, 1 - 40, 2 - 40, 2 - 40, 2 - 40]);
});

it('a page begins with the first row that is still read', async () => {
  const { database, store } = await opened();
  let nowMs = Date.now();
  const oldestRowMs = createOldestRowMs(days, () => nowMs);
  for (let position = 1; position <= 9; position++) await store(position, nowMs + position * dayMs);
  const recent = createRecentReadings({ storedThrough: () => 9 });
  recent.reset(9);
  const reader = createObservationReader({
    recent,
    database,
    readRuns,
    isStoredThrough: () => true,
    oldestRowMs,
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

  // A replica needs this row to know how far readings are stored. It has aged out, and nothing below it is read.
  const { isStoredThrough } = createStoredThroughQuery(database, oldestRowMs);
  const evicted = (position: number, receivedAtMs: number) => ({
    position,
    evicted: acceptedReading({ installationId: 'wheel.one', position, receivedAtMs }),
  });
  expect(await isStoredThrough(evicted(2, nowMs - (days + 1) * dayMs), runs)).toBe(true);
  expect(await isStoredThrough(evicted(10, nowMs), runs)).toBe(false);
});

it('a page of the feed ends before rows not read any more', async () => {
  const { database, store } = await opened();
  let nowMs = Date.now();
  const oldestRowMs = createOldestRowMs(days, () => nowMs);
  for (let position = 1; position <= 9; position++) await store(position, nowMs + position * dayMs);
  const awaitEvents = createAwaitByReading({
    database,
    readRuns: { measurement: readRuns, chain: readRuns },
    oldestRowMs,
  });
  const older = createStoredEvents({ database, awaitEvents, oldestRowMs });
  const through = { position: 9, ordinal: 0 };
  const of = {
    source: 'measurement',
    run: '1.0',
    evicted: { through, throughMs: nowMs + 9 * dayMs, atPosition: 9 },
  } as const;
  const read = async () => {
    const categories = ['measurement'] as const;
    const before = await older.before(
      of,
      { keys: categories, place: null, fromMs: null, limit: 20 },
      neverAborted,
    );
    const arrival = { position: 0, ordinal: 0 };
    const after = await older.after(of, { categories, arrival, limit: 20 }, neverAborted);
    return [before, after].map((page) => page.map(({ position }) => position));
  };
  expect(await read()).toEqual([
    [9, 8, 7, 6, 5, 4, 3, 2, 1],
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  ]);
  nowMs += (days + 7) * dayMs;
  expect(await read()).toEqual([
    [9, 8, 7],
    [7, 8, 9],
  ]);
  nowMs += 3 * dayMs;
  for (const { name } of Object.values(measurementEvents)) await database.command(`TRUNCATE TABLE ${name}`);
  expect(await read()).toEqual([[], []]);
});
