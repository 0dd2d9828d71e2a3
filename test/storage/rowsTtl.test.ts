import { expect, it } from 'vitest';
import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { createReaderEventsStored } from '../../storage/eventsStored.ts';
import { attachRows, createEmpty } from '../../storage/generations.ts';
import { createObservationReader, createStoredThroughQuery } from '../../storage/observations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import {
  applyRowsTtl,
  createOldestRowMs,
  readRowsGoneBeforeMs,
  readRowsTtlDays,
} from '../../storage/rowsTtl.ts';
import { listRowTables } from '../../storage/rowTables.ts';
import { createStoredEvents } from '../../storage/storedEvents.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const dayMs = 86_400_000;
const days = 40;
const neverAborted = new AbortController().signal;

async function opened() {
  const { database, tables } = await openTables();
  /** Stores one row of a given time in each table that ages. */
  const store = async (into: Tables, position: number, timeMs: number) => {
    const installationId = 'wheel.one';
    const [bucket] = storedRows(60, 1).buckets as [BucketRow];
    const place = { id: `event ${position}`, position, installationId };
    const event = { ...someRows.event, ...place, recordedAtMs: timeMs, arrivedAtMs: timeMs };
    await storeRows(database, into, {
      readings: [acceptedReading({ installationId, position, observedAtMs: timeMs, receivedAtMs: timeMs })],
      rounds: [{ installationId, roundId: position, startMs: timeMs, workUnits: 1n, position }],
      buckets: [{ ...bucket, installationId, startMs: timeMs, position }],
      measurementEvents: [event],
      chainEvents: [
        { ...event, category: 'protocol', installationId: '', storedBy: position, storedAtMs: timeMs },
      ],
    });
  };
  const listTables = (of: Tables) => [
    ...listRowTables(of, 'MINER_COUNTER'),
    ...Object.values(of.chainEvents),
  ];
  /** Positions of the rows that remain after ClickHouse has merged. */
  const merged = async (of: Tables) => {
    const left = new Map<string, number[]>();
    for (const table of listTables(of)) {
      await database.command(`OPTIMIZE TABLE ${table} FINAL`);
      const rows = await database.select(`SELECT position FROM ${table} ORDER BY position`);
      left.set(
        table,
        rows.map(([position]) => Number(position)),
      );
    }
    return left;
  };
  const ttls = async (of: Tables) => {
    const read = listTables(of).map((table) => readRowsTtlDays(database, table));
    return [...new Set(await Promise.all(read))];
  };
  return { database, tables, store, merged, ttls, listTables };
}

it('rows leave every table some days after their time, whatever year a clock has said, and stay once the setting goes', async () => {
  const { database, tables, store, merged, ttls, listTables } = await opened();
  const nowMs = Date.now();
  await store(tables, 1, nowMs - (days + 3) * dayMs);
  await store(tables, 2, nowMs - days * dayMs);
  await store(tables, 3, nowMs);
  await store(tables, 4, Date.UTC(2_250, 0, 1));
  await store(tables, 5, Date.UTC(9_999, 0, 1));
  await store(tables, 6, Date.UTC(1, 0, 1));
  await applyRowsTtl(database, tables, { days: 0, nowMs: Date.now() });
  expect(await ttls(tables)).toEqual([0]);
  for (const positions of (await merged(tables)).values()) expect(positions).toEqual([1, 2, 3, 4, 5, 6]);
  await applyRowsTtl(database, tables, { days, nowMs: Date.now() });
  expect(await ttls(tables)).toEqual([days]);
  await applyRowsTtl(database, tables, { days, nowMs: Date.now() });
  for (const positions of (await merged(tables)).values()) expect(positions).toEqual([2, 3, 4, 5]);
  const history = listRowTables(tables, 'MINER_CHAIN').filter((table) => !listTables(tables).includes(table));
  expect(history).toEqual([tables.ownerActivity, tables.settlements, tables.checkpoints]);
  for (const table of history) expect(await readRowsTtlDays(database, table)).toBe(0);
  await applyRowsTtl(database, tables, { days: days + 1, nowMs: Date.now() });
  expect(await ttls(tables)).toEqual([days + 1]);
  await applyRowsTtl(database, tables, { days: 0, nowMs: Date.now() });
  expect(await ttls(tables)).toEqual([0]);
  await store(tables, 1, nowMs - (days + 3) * dayMs);
  for (const positions of (await merged(tables)).values()) expect(positions).toEqual([1, 2, 3, 4, 5]);
});

it('what earlier and longer TTLs have removed counts as gone, and so does what the present one removes', async () => {
  const { database, tables } = await opened();
  const nowMs = Date.UTC(2026, 0, 31);
  const gone: (number | null)[] = [];
  for (const [index, next] of [0, 40, 50, 45, 0].entries()) {
    const atMs = nowMs + index * dayMs;
    await applyRowsTtl(database, tables, { days: next, nowMs: atMs });
    const goneMs = await readRowsGoneBeforeMs(database, tables, atMs);
    gone.push(goneMs === null ? null : (goneMs - nowMs) / dayMs);
  }
  // Forty days were kept until the second day, and forty-five until the fourth.
  expect(gone).toEqual([null, 1 - 40, 2 - 40, 2 - 40, 2 - 40]);
});

it('tables with another TTL take rows as partitions, and keep their own', async () => {
  const { database, tables, store, merged, ttls } = await opened();
  await applyRowsTtl(database, tables, { days, nowMs: Date.now() });
  await store(tables, 1, Date.now());
  const next = resolveTables(2);
  await createEmpty(database, next);
  await attachRows(database, tables, next);
  expect((await merged(next)).get(next.readings)).toEqual([1]);
  expect(await readRowsTtlDays(database, next.readings)).toBe(0);
  await applyRowsTtl(database, next, { days, nowMs: Date.now() });
  expect(await ttls(next)).toEqual([days]);
});

it('a page begins with the first row that is still read, whatever ClickHouse has removed by then', async () => {
  const { database, tables, store } = await opened();
  let nowMs = Date.now();
  const oldestRowMs = createOldestRowMs(days, () => nowMs);
  for (let position = 1; position <= 9; position++) await store(tables, position, nowMs + position * dayMs);
  const recent = createRecentReadings({ storedThrough: () => 9 });
  recent.reset(9);
  const reader = createObservationReader({
    recent,
    database,
    tables: () => tables,
    isStoredThrough: () => true,
    oldestRowMs,
  });
  const read = async () =>
    (await reader.page('wheel.one', 0, 20, neverAborted)).items.map(({ position }) => position);
  expect(await read()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  nowMs += (days + 3) * dayMs;
  expect(await read()).toEqual([3, 4, 5, 6, 7, 8, 9]);
  await database.command(
    `ALTER TABLE ${tables.readings} DELETE WHERE position IN (1, 2) SETTINGS mutations_sync = 1`,
  );
  expect(await read()).toEqual([3, 4, 5, 6, 7, 8, 9]);

  // A replica needs this row to know how far readings are stored. It has aged out, and nothing below it is read.
  const { isStoredThrough } = createStoredThroughQuery(database, () => tables, oldestRowMs);
  const evicted = (position: number, receivedAtMs: number) => ({
    position,
    evicted: acceptedReading({ installationId: 'wheel.one', position, receivedAtMs }),
  });
  expect(await isStoredThrough(evicted(2, nowMs - (days + 1) * dayMs))).toBe(true);
  expect(await isStoredThrough(evicted(10, nowMs))).toBe(false);
});

it('a page of the feed ends before rows that are not read any more, and a replica does not wait for them', async () => {
  const { database, tables, store } = await opened();
  let nowMs = Date.now();
  const oldestRowMs = createOldestRowMs(days, () => nowMs);
  for (let position = 1; position <= 9; position++) await store(tables, position, nowMs + position * dayMs);
  const eventsStored = createReaderEventsStored({
    database,
    tables: () => tables,
    readChainRuns: async () => [],
    oldestRowMs,
  });
  const older = createStoredEvents({ database, tables: () => tables, eventsStored, oldestRowMs });
  const through = { position: 9, ordinal: 0 };
  const of = {
    source: 'measurement',
    run: '1.0',
    evicted: { through, throughMs: nowMs + 9 * dayMs, atPosition: 9 },
  } as const;
  const read = async () => {
    const categories = ['measurement'] as const;
    const before = await older.before(of, { categories, place: null, limit: 20 }, neverAborted);
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
  for (const table of Object.values(tables.measurementEvents))
    await database.command(`TRUNCATE TABLE ${table}`);
  expect(await read()).toEqual([[], []]);
});
