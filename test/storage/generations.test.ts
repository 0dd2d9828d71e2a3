import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OwnerActivityRow } from '../../actors/chain/rows/activityRows.ts';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import type { Database } from '../../storage/database.ts';
import { deleteRows } from '../../storage/deleteRowsAbove.ts';
import { activate, attachRows, createEmpty, findActiveTables } from '../../storage/generations.ts';
import { beginEpoch, isNewestEpoch, readDatabaseIdentity } from '../../storage/ingestEpochs.ts';
import { migrate } from '../../storage/migrations.ts';
import { chainCheckpoints, chainSettlements } from '../../storage/tables/chainSettlements.ts';
import { chainEvents, measurementEvents } from '../../storage/tables/events.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { insertRows } from '../../storage/tables/table.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { buildMeasurementEvents, feedRun } from '../support/chain/feedEvents.ts';
import { buildBlockHash, buildTransactionHash } from '../support/chain/hashes.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openForTest, openTables, useBothLocations } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

/** Rows as a batch that was sent twice leaves them. */
async function fill(database: Database, tables: Tables, speedMmPerSecond: number) {
  const read = [1, 2, 3].map((position) =>
    acceptedReading({ position, observedAtMs: startMs + position * 1_000, speedMmPerSecond }),
  );
  const round = { installationId: 'wheel-1', roundId: 1, startMs, workUnits: 2n ** 200n, position: 3 };
  const bucket = {
    installationId: 'wheel-1',
    startMs,
    observedRoundCount: 1,
    workUnits: 2n ** 200n,
    readingCount: 3,
    maxDistanceMm: 5,
    peakRpmMilli: 6,
    peakRpmAtMs: startMs,
    peakSpeedMmPerSecond: speedMmPerSecond,
    peakSpeedAtMs: startMs,
    position: 3,
  };
  const source = {
    run: '1.0',
    blockNumber: 2n ** 64n - 1n,
    blockHash: buildBlockHash(1),
    blockTimestampMs: startMs,
    transactionHash: buildTransactionHash(2),
    transactionIndex: 0,
    logIndex: 1,
    position: 3,
    storedBy: 4,
    storedAtMs: startMs,
  } as const;
  const sums = { cumulativeWork: 2n ** 200n, cumulativeBlockUnits: 1n };
  const settlement = {
    ...source,
    ...sums,
    settlementNumber: 0,
    previousSettledThroughRound: 0n,
    settledThroughRound: 3n,
    activeRoundCount: 2n,
    workAdded: 4n,
    previousCumulativeBlockUnits: 0n,
  };
  const checkpoint = {
    ...source,
    ...sums,
    checkpointNumber: 0,
    afterRound: 0n,
    throughRound: 3n,
    completedBlockCount: 1n,
    eligibleWeight: 1n,
    amountBaseUnits: 7n,
    totalMintedBaseUnits: 7n,
  };
  const claim: OwnerActivityRow = {
    ...source,
    owner: toAddress(`0x${'a'.repeat(40)}`),
    eventNumber: 0,
    kind: 'claim',
    contractAddress: toAddress(`0x${'b'.repeat(40)}`),
    tokenIds: [1n, 2n ** 200n],
    amountBaseUnits: 7n,
    fromAddress: null,
    toAddress: toAddress(`0x${'a'.repeat(40)}`),
    level: null,
    effectiveRound: null,
    nextMergeBlock: null,
  };
  // As an earlier run of the fold has stored the same.
  for (const run of ['1.0', '2.0']) {
    await insertRows(database, chainSettlements, [{ ...settlement, run }]);
    await insertRows(database, chainCheckpoints, [{ ...checkpoint, run }]);
    await insertRows(database, ownerActivity, [{ ...claim, run }]);
  }
  for (let time = 0; time < 2; time++) {
    await insertRows(database, readings, read, tables.readings);
    await insertRows(database, rounds, [round], tables.rounds);
    await insertRows(database, halfHourBuckets, [bucket], tables.halfHourBuckets);
  }
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
    for (const view of ['rounds', 'half_hour_buckets'])
      expect(await database.select(`SELECT toString(work_units) FROM ${view}`)).toEqual([
        [(2n ** 200n).toString()],
      ]);
    const inViews = 'SELECT toString(sum(amount_base_units)), count() FROM';
    for (const view of ['checkpoints', 'owner_activity'])
      expect((await database.select(`${inViews} ${view}`)).map((row) => row.map(String))).toEqual([
        ['7', '1'],
      ]);
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
    await migrate(database, silentLogger);
    expect(await database.select(peak)).toEqual([[8]]);
    expect(await speeds(database)).toEqual([8, 8, 8]);
  });

  it('of events show both sources, and an event that two runs have stored once', async () => {
    const { database, tables } = await openTables();
    const event = {
      run: '1.0',
      category: 'measurement',
      installationId: 'wheel-1',
      position: 5,
      ordinal: 0,
      id: 'one',
      type: 'measurement.speed_record',
      recordedAtMs: startMs,
      arrivedAtMs: startMs,
      event: '{}',
    } as const;
    const again = { ...event, run: '3.9', position: 2, arrivedAtMs: startMs + 1 };
    await insertRows(database, measurementEvents.events, [event, again], tables.measurementEvents.events);
    const storedBy = { storedBy: 5, storedAtMs: startMs };
    const ofChain = { ...event, ...storedBy, category: 'protocol', id: 'two', installationId: '' } as const;
    await insertRows(database, chainEvents.events, [ofChain], tables.chainEvents.events);
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
      const rows = await database.select(sql, { from: startMs, to: startMs + 3_600_000 });
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

it('a process learns that another one has begun a later epoch, and that the database was emptied', async () => {
  const { database } = await openTables();
  const epoch = await beginEpoch(database, 'one', 0);
  const reasons: string[] = [];
  const isNewest = () =>
    isNewestEpoch({ database, epoch, onSuperseded: ({ message }) => reasons.push(message) });
  expect([await isNewest(), reasons]).toEqual([true, []]);
  await beginEpoch(database, 'another', 0);
  expect(await isNewest()).toBe(false);
  await database.command(`TRUNCATE TABLE ${ingestEpochs.name}`);
  expect(await isNewest()).toBe(false);
  expect(reasons).toEqual([
    expect.stringContaining('another process ingests into this database'),
    expect.stringContaining('the database was emptied or restored from a backup'),
  ]);
});

it('a new database has one identity, although many processes start with it', async () => {
  const database = openForTest();
  const names = await Promise.all(Array.from({ length: 12 }, () => readDatabaseIdentity(database)));
  expect(new Set(names).size).toBe(1);
  expect(await readDatabaseIdentity(database)).toBe(names[0]);
});
