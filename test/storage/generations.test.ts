import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import type { Database } from '../../storage/database.ts';
import { deleteRows } from '../../storage/deleteRowsAbove.ts';
import { activate, attachRows, createEmpty, findActiveTables } from '../../storage/generations.ts';
import {
  beginEpoch,
  fenceDatabase,
  isNewestEpoch,
  readDatabaseIdentity,
} from '../../storage/ingestEpochs.ts';
import { noteLineage, openEnd } from '../../storage/lineages.ts';
import { migrate } from '../../storage/migrations.ts';
import { chainEvents, measurementEvents } from '../../storage/tables/events.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { removals } from '../../storage/tables/removals.ts';
import { insertRows } from '../../storage/tables/table.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { buildMeasurementEvents, feedRun } from '../support/chain/feedEvents.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { migratedDeployment } from '../support/storage/migratedDeployment.ts';
import { openForTest, openTables, useBothLocations } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storedRows } from '../support/storage/storedRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

/** Rows as a batch that was sent twice leaves them. */
async function fill(database: Database, tables: Tables, speedMmPerSecond: number) {
  const rows = storedRows(58, 3);
  const readings = rows.readings.map((reading) => ({ ...reading, speedMmPerSecond }));
  const buckets = rows.buckets.map((bucket) => ({ ...bucket, peakSpeedMmPerSecond: speedMmPerSecond }));
  const { settlement, checkpoint, claim } = someRows;
  // A run that counts no longer has stored the same of the chain.
  for (const run of ['1.0', '2.0'])
    await storeRows(
      database,
      tables,
      {
        ...{ readings, rounds: rows.rounds, buckets },
        settlements: [settlement],
        checkpoints: [checkpoint],
        // A transfer is activity of both owners.
        ownerActivity: [claim.owner, claim.contractAddress].map((owner) => ({ ...claim, owner })),
      },
      run,
    );
  await noteLineage(database, { ...someLineage, runs: [{ run: '2.0', through: openEnd }] }, 0);
}

const speeds = async (database: Database) =>
  (await database.select('SELECT speed_mm_per_second FROM readings ORDER BY position')).map(([speed]) =>
    Number(speed),
  );

describe('views', () => {
  it('show each row of the active generation once, and follow the pointer', async () => {
    const { database, tables } = await openTables();
    await fill(database, tables, 7);
    expect(await speeds(database)).toEqual([7, 7, 7]);
    for (const [view, work] of [
      ['rounds', 60n ** 7n],
      ['half_hour_buckets', 60n],
    ])
      expect(await database.select(`SELECT toString(work_units) FROM ${view}`)).toEqual([[`${work}`]]);
    const inViews = 'SELECT toString(sum(amount_base_units)), count() FROM';
    for (const [view, ...shown] of [
      ['checkpoints', '7', '1'],
      ['owner_activity', '14', '2'],
    ])
      expect((await database.select(`${inViews} ${view}`)).map((row) => row.map(String))).toEqual([shown]);
    const [settled] = await database.select(
      'SELECT toString(cumulative_work), count() FROM settlements GROUP BY 1',
    );
    expect(settled?.map(String)).toEqual([String(2n ** 200n), '1']);
    const rebuilt = resolveTables(tables.generation + 1);
    await createEmpty(database, rebuilt);
    await fill(database, rebuilt, 8);
    expect(await speeds(database)).toEqual([7, 7, 7]);
    await activate(database, rebuilt);
    expect(await speeds(database)).toEqual([8, 8, 8]);
  });

  it('that a kill left behind the pointer show the previous tables, and follow at the next start', async () => {
    const { database, tables } = await openTables();
    await fill(database, tables, 7);
    const rebuilt = resolveTables(tables.generation + 1);
    await createEmpty(database, rebuilt);
    await fill(database, rebuilt, 8);
    const killed: Database = {
      ...database,
      command: async (sql, parameters) => {
        if (sql.includes('VIEW half_hour_buckets')) throw new Error('killed here');
        await database.command(sql, parameters);
      },
    };
    await expect(activate(killed, rebuilt)).rejects.toThrow('killed here');
    expect(await findActiveTables(database)).toEqual(rebuilt);
    const peak = 'SELECT peak_speed_mm_per_second FROM half_hour_buckets';
    expect(await database.select(peak)).toEqual([[7]]);
    await migrate(database, silentLogger, migratedDeployment);
    expect(await database.select(peak)).toEqual([[8]]);
    expect(await speeds(database)).toEqual([8, 8, 8]);
  });

  it('of events show both sources, what counts of the chain, and an event that two runs have stored once', async () => {
    const { database, tables } = await openTables();
    const { event } = someRows;
    const again = { ...event, run: '3.9', position: 2, arrivedAtMs: startMs + 1 };
    await insertRows(database, measurementEvents.events, [event, again], tables.measurementEvents.events);
    const storedBy = { storedBy: 5, storedAtMs: startMs };
    const ofChain = { ...event, ...storedBy, category: 'protocol', id: 'two', installationId: '' } as const;
    const cutOff = { ...ofChain, id: 'three', ordinal: 1, storedBy: 6 };
    await insertRows(database, chainEvents.events, [ofChain, cutOff], tables.chainEvents.events);
    await noteLineage(database, { ...someLineage, runs: [{ run: '1.0', through: 5 }] }, 0);
    expect(await database.select('SELECT source, id, run, category FROM events ORDER BY id')).toEqual([
      ['measurement', 'one', '3.9', 'measurement'],
      ['chain', 'two', '1.0', 'protocol'],
    ]);
  });

  it('answer the queries that the page of the tables shows', async () => {
    const { database, tables } = await openTables();
    await fill(database, tables, 7);
    const page = readFileSync(resolve(import.meta.dirname, '../../storage/README.md'), 'utf8');
    const queries = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
    expect(queries.length).toBeGreaterThanOrEqual(3);
    const from = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";
    const to = "fromUnixTimestamp64Milli({to:Int64}, 'UTC')";
    for (const query of queries) {
      // As Grafana's plugin for ClickHouse replaces its macros.
      const sql = query
        .replace(/\$__timeFilter\((\w+)\)/g, `($1 >= ${from} AND $1 <= ${to})`)
        .replace(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 60 second)')
        .replaceAll('$installation', 'wheel-1');
      const rows = await database.select(sql, { from: startMs, to: startMs + 2 * 86_400_000 });
      expect([sql, rows.length > 0 || sql.includes('FROM events')]).toEqual([sql, true]);
    }
  });
});

describe.each(useBothLocations())('a generation in %s', (_, locate) => {
  it('takes over the events of another one, with their indexes by time and by ID', async () => {
    const { database, tables: active } = await openTables(await locate());
    const rebuilt = resolveTables(active.generation + 1);
    const events = buildMeasurementEvents(
      Array.from({ length: 30 }, () => ({ receivedAtMs: 0, distances: 1 })),
    );
    const measurementEvents = events.map((event) => toMeasurementRow(event, feedRun));
    await storeRows(database, active, { measurementEvents });
    await createEmpty(database, rebuilt);
    await attachRows(database, active, rebuilt);
    const countRows = async (table: string) =>
      Number((await database.select(`SELECT count() FROM ${table}`))[0]?.[0]);
    const tables = Object.values(rebuilt.measurementEvents);
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, events.length]);
    await deleteRows(database, rebuilt, {
      sql: 'position >= {from:UInt64} AND installation_id = {installation:String}',
      parameters: { from: 21, installation: 'wheel-1' },
    });
    const kept = events.filter(({ position }) => position < 21).length;
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, kept]);
    for (const table of Object.values(active.measurementEvents))
      expect([table, await countRows(table)]).toEqual([table, events.length]);
  });
});

it('a process writes only with the lease, and learns that another one has begun a later epoch, or that the database was emptied', async () => {
  const { database } = await openTables();
  let isHeld = true;
  const lease = { isHeld: () => isHeld };
  const begin = (holder: string, leaseSequence = 1) =>
    beginEpoch(database, { lease, leaseSequence, holder, nowMs: 0 });
  const epoch = await begin('one');
  const reasons: string[] = [];
  const onSuperseded = ({ message }: Error) => void reasons.push(message);
  const options = { database, epoch, holder: 'one', onSuperseded };
  const fenced = fenceDatabase({ ...options, lease });
  const write = async () => {
    const mark = { number: 1, step: 'begun' } as const;
    const writing = [insertRows(fenced, removals, [mark]), fenced.command('SELECT 1')];
    return (await Promise.allSettled(writing)).map(({ status }) => status);
  };
  expect([await write(), reasons]).toEqual([['fulfilled', 'fulfilled'], []]);
  isHeld = false;
  expect(await write()).toEqual(['rejected', 'rejected']);
  isHeld = true;
  await begin('another');
  // A late row equals the row of the other process, but what is removed late is gone.
  expect(await write()).toEqual(['fulfilled', 'rejected']);
  await database.command(`TRUNCATE TABLE ${ingestEpochs.name}`);
  expect(await isNewestEpoch(options)).toBe(false);
  expect(reasons).toEqual([
    expect.stringContaining('another process ingests into this database'),
    expect.stringContaining('the database was emptied or restored from a backup'),
  ]);
});

it('two processes never write in the same epoch, and one without the lease begins none', async () => {
  const { database } = await openTables();
  const begin = (holder: string, leaseSequence: number, isHeld = () => true) =>
    beginEpoch(database, { lease: { isHeld }, leaseSequence, holder, nowMs: 0 });
  expect(await begin('one', 7)).toBe(7);
  // NATS has lost its data since, so that its sequences begin again.
  expect(await begin('two', 1)).toBe(8);
  // Both hold a lease, of different servers, and have read the same newest epoch.
  await Promise.allSettled([begin('three', 20), begin('four', 20)]);
  const isNewest = (holder: string) =>
    isNewestEpoch({ database, epoch: 20, holder, onSuperseded: () => undefined });
  expect([await isNewest('three'), await isNewest('four')]).toEqual([true, false]);
  // One is paused before it has read its epoch back, and loses the lease meanwhile.
  const held = [true, false];
  await expect(begin('five', 30, () => held.shift() ?? false)).rejects.toThrow('lease is not held');
  expect(await begin('six', 31)).toBe(31);
});

it('a new database has one identity, although many processes start with it', async () => {
  const database = openForTest();
  const names = await Promise.all(Array.from({ length: 12 }, () => readDatabaseIdentity(database)));
  expect(new Set(names).size).toBe(1);
  expect(await readDatabaseIdentity(database)).toBe(names[0]);
});
