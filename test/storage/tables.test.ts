import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRowText } from '../../storage/rowText.ts';
import { decimal, integer, json, oneOf, string, stringOrEmpty } from '../../storage/tables/column.ts';
import { foldSnapshots } from '../../storage/tables/foldSnapshots.ts';
import { generations } from '../../storage/tables/generations.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { readings } from '../../storage/tables/readings.ts';
import { replays } from '../../storage/tables/replays.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { defineTable, insertRows, type Table } from '../../storage/tables/table.ts';
import { resolveTables } from '../../storage/tables.ts';
import { cellText } from '../../storage/tabSeparated.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';

/** What databases hold that exist already, as it was created before tables were defined as they are now. */
const existingTables = [
  `CREATE TABLE readings_g1 (
    installation_id String,
    position Int64,
    telemetry_id String,
    boot_id String,
    sequence Int64,
    observed_at_ms Int64,
    received_at_ms Int64,
    counter_epoch String,
    cumulative_work_units String,
    provenance String,
    software_version Nullable(String),
    core_status String,
    rpm_milli Int64,
    speed_mm_per_second Int64,
    distance_mm Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(observed_at_ms, 2592000000)
    ORDER BY (installation_id, position)`,
  `CREATE TABLE rounds_g1 (
    installation_id String,
    round_id Int64,
    start_ms Int64,
    work_units String,
    position Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(start_ms, 2592000000)
    ORDER BY (installation_id, round_id)`,
  `CREATE TABLE half_hour_buckets_g1 (
    installation_id String,
    start_ms Int64,
    observed_round_count UInt8,
    work_units String,
    reading_count Int64,
    max_distance_mm Int64,
    peak_rpm_milli Int64,
    peak_rpm_at_ms Int64,
    peak_speed_mm_per_second Int64,
    peak_speed_at_ms Int64,
    position Int64
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(start_ms, 2592000000)
    ORDER BY (installation_id, start_ms)`,
  `CREATE TABLE measurement_feed_ids_g1 (
    run String,
    id String,
    installation_id String,
    position Int64,
    ordinal Int64,
    arrived_at_ms Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, id) SETTINGS index_granularity = 256`,
  `CREATE TABLE measurement_feed_times_g1 (
    run String,
    category String,
    installation_id String,
    recorded_at_ms Int64,
    position Int64,
    ordinal Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, recorded_at_ms, position, ordinal) SETTINGS index_granularity = 256`,
  `CREATE TABLE measurement_feed_g1 (
    run String,
    category String,
    installation_id String,
    position Int64,
    ordinal Int64,
    id String,
    type String,
    recorded_at_ms Int64,
    arrived_at_ms Int64,
    event String
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, position, ordinal) SETTINGS index_granularity = 256`,
  `CREATE TABLE fold_snapshots_g1 (
    snapshot String,
    part Int64,
    chunk Int64,
    chunk_count Int64,
    stream String,
    fold_version Int64,
    configuration String,
    stream_created String,
    position Int64,
    digest String,
    taken_at_ms Int64,
    ordinal Int64,
    format String,
    checksum String,
    payload String
    ) ENGINE = MergeTree()
    PARTITION BY snapshot
    ORDER BY (snapshot, chunk)`,
  `CREATE TABLE chain_feed_ids (
    run String,
    id String,
    installation_id String,
    position Int64,
    ordinal Int64,
    arrived_at_ms Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, id) SETTINGS index_granularity = 256`,
  `CREATE TABLE chain_feed_times (
    run String,
    category String,
    installation_id String,
    recorded_at_ms Int64,
    position Int64,
    ordinal Int64
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, recorded_at_ms, position, ordinal) SETTINGS index_granularity = 256`,
  `CREATE TABLE chain_feed (
    run String,
    category String,
    installation_id String,
    position Int64,
    ordinal Int64,
    id String,
    type String,
    recorded_at_ms Int64,
    arrived_at_ms Int64,
    event String
    ) ENGINE = ReplacingMergeTree()
    ORDER BY (run, category, position, ordinal) SETTINGS index_granularity = 256`,
  'CREATE TABLE active_generation (swap Int64, generation Int64) ENGINE = MergeTree() ORDER BY swap',
  `CREATE TABLE replays (generation Int64, step String, at_ms Int64, plan String)
   ENGINE = MergeTree() ORDER BY (generation, at_ms)`,
  ...['measurement_events_g1', 'chain_events'].map(
    (table) => `CREATE TABLE ${table} (
      id String,
      type String,
      installation_id String,
      recorded_at_ms Int64,
      position Int64,
      event String
    ) ENGINE = ReplacingMergeTree(position)
    PARTITION BY intDiv(recorded_at_ms, 2592000000)
    ORDER BY (recorded_at_ms, id)`,
  ),
  `CREATE TABLE generations (
    generation Int64, fold_version Int64, configuration String, stream_created String, at_ms Int64
  ) ENGINE = MergeTree() ORDER BY (generation, at_ms)`,
  'CREATE TABLE ingest_epochs (epoch Int64, holder String, at_ms Int64) ENGINE = MergeTree() ORDER BY epoch',
  'CREATE TABLE removals (number Int64, step String) ENGINE = MergeTree() ORDER BY number',
  'CREATE TABLE generation_pointer (swap Int64, generation Int64) ENGINE = MergeTree() ORDER BY swap',
  'CREATE TABLE migrations (number Int64, name String) ENGINE = MergeTree() ORDER BY number',
];

/** Rows as they were inserted into them. */
const existingRows = [
  `INSERT INTO migrations VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f')`,
  'INSERT INTO generation_pointer VALUES (1, 1)',
  `INSERT INTO readings_g1 VALUES ('wheel', 7, 'id', 'boot', 3, 1769860800000, 1769860800001, 'epoch',
   '115792089237316195423570985008687907853269984665640564039457584007913129639935', 'hardware', NULL, 'IDLE', 1, 2, 3)`,
  `INSERT INTO rounds_g1 VALUES ('wheel', 1, 1769860800000, '18446744073709551616', 8)`,
  `INSERT INTO half_hour_buckets_g1 VALUES ('wheel', 1769860800000, 3, '5', 1800, 10, 11, 1769860800012, 13, 1769860800014, 9)`,
  `INSERT INTO fold_snapshots_g1 VALUES ('name', 0, 0, 1, 'MINER_COUNTER', 4, 'digest', 'created', 9, '', 1769860800000, 2, 'records', 'sum', 'text')`,
  `INSERT INTO generations VALUES (1, 4, 'digest', 'created', 1769860800000)`,
];

const locations: { kind: string; open: () => Promise<Database>; isHere: boolean }[] = [
  {
    kind: 'the embedded engine',
    isHere: true,
    open: async () => openDatabase({ path: temporaryDirectory() }),
  },
  {
    kind: 'a server',
    isHere: clickHouseServerAvailable(),
    open: async () => {
      const server = await startClickHouseServer();
      onTestFinished(() => server.kill());
      return openDatabase({ url: server.url });
    },
  },
];

/** Every table of a database, as ClickHouse describes it. */
async function describeTables(database: Database): Promise<Map<string, unknown>> {
  const described = new Map<string, unknown>();
  const names = await database.select(
    'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  for (const [name] of names)
    described.set(String(name), [
      await database.select(`SHOW CREATE TABLE ${name}`),
      await database.select(`DESCRIBE TABLE ${name}`),
    ]);
  return described;
}

async function dropAllTables(database: Database): Promise<void> {
  for (const name of (await describeTables(database)).keys()) await database.command(`DROP TABLE ${name}`);
}

async function readAll<Row>(database: Database, table: Table<Row>, name = table.name): Promise<Row[]> {
  return (await database.select(`SELECT ${table.list} FROM ${name}`)).map(table.read);
}

describe.each(locations)('tables in $kind', ({ isHere, open }) => {
  const opened = async () => {
    const database = await open();
    onTestFinished(() => database.close());
    return database;
  };

  it.skipIf(!isHere)('of a new database are those of existing ones, which open and are read', async () => {
    const existing = await opened();
    for (const statement of [...existingTables, ...existingRows]) await existing.command(statement);
    const before = await describeTables(existing);
    const tables = await migrate(existing, silentLogger);
    expect(await describeTables(existing)).toEqual(before);

    expect(await readAll(existing, readings, tables.readings)).toEqual([
      {
        installationId: 'wheel',
        position: 7,
        telemetryId: 'id',
        bootId: 'boot',
        sequence: 3,
        observedAtMs: 1_769_860_800_000,
        receivedAtMs: 1_769_860_800_001,
        counterEpoch: 'epoch',
        cumulativeWorkUnits: 2n ** 256n - 1n,
        provenance: 'hardware',
        softwareVersion: null,
        coreStatus: 'IDLE',
        rpmMilli: 1,
        speedMmPerSecond: 2,
        distanceMm: 3,
      },
    ]);
    expect(await readAll(existing, rounds, tables.rounds)).toEqual([
      { installationId: 'wheel', roundId: 1, startMs: 1_769_860_800_000, workUnits: 2n ** 64n, position: 8 },
    ]);
    expect(await readAll(existing, halfHourBuckets, tables.halfHourBuckets)).toEqual([
      {
        installationId: 'wheel',
        startMs: 1_769_860_800_000,
        observedRoundCount: 3,
        workUnits: 5n,
        readingCount: 1_800,
        maxDistanceMm: 10,
        peakRpmMilli: 11,
        peakRpmAtMs: 1_769_860_800_012,
        peakSpeedMmPerSecond: 13,
        peakSpeedAtMs: 1_769_860_800_014,
        position: 9,
      },
    ]);
    expect(await readAll(existing, foldSnapshots, tables.foldSnapshots)).toMatchObject([
      {
        snapshot: 'name',
        stream: 'MINER_COUNTER',
        foldVersion: 4,
        digest: null,
        ordinal: 2,
        payload: 'text',
      },
    ]);
    expect(await readAll(existing, generations)).toEqual([
      {
        generation: 1,
        foldVersion: 4,
        configuration: 'digest',
        streamCreated: 'created',
        atMs: 1_769_860_800_000,
      },
    ]);

    await dropAllTables(existing);
    expect(await migrate(existing, silentLogger)).toEqual(resolveTables(1));
    expect(await describeTables(existing)).toEqual(before);
  });

  it.skipIf(!isHere)('get the columns that the first versions did not have', async () => {
    const database = await opened();
    const first = existingTables.filter((sql) =>
      /TABLE (readings|rounds|half_hour|fold|active|migr)/.test(sql),
    );
    for (const sql of first)
      await database.command(
        sql.replace(/ (configuration String|ordinal Int64|format String|part Int64),$/gm, ''),
      );
    await database.command("INSERT INTO migrations VALUES (1, 'a')");
    await migrate(database, silentLogger);
    const upgraded = await describeTables(database);
    await dropAllTables(database);
    await migrate(database, silentLogger);
    expect(upgraded).toEqual(await describeTables(database));
  });

  it.skipIf(!isHere)('give back every row that is inserted, of any values', async () => {
    const database = await opened();
    const table = defineTable<Values>({
      name: 'every_kind_of_column',
      columns: {
        order: integer,
        text: string,
        unknownText: stringOrEmpty,
        amountOfWork: decimal,
        oneOfTwo: oneOf(['one', 'two']),
        document: json<Values['document']>(),
      },
      engine: 'MergeTree()',
      orderBy: ['order'],
    });
    await database.command(table.createStatement());
    const unicode = fc.string({ unit: 'grapheme' });
    const values = fc.record<Omit<Values, 'order'>>({
      text: unicode,
      unknownText: fc.option(unicode.filter((text) => text !== '')),
      amountOfWork: fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
      oneOfTwo: fc.constantFrom('one', 'two'),
      document: fc.record({ text: unicode, number: fc.option(fc.maxSafeInteger()) }),
    });
    const rows = fc.sample(values, 500).map((row, order): Values => ({ order, ...row }));
    await insertRows(database, table, rows);
    const read = await readAll(database, table);
    expect(read.sort((a, b) => a.order - b.order)).toEqual(rows);
    const some = table.select('oneOfTwo', 'order');
    const found = await database.select(`SELECT ${some.list} FROM ${table.name} ORDER BY order LIMIT 1`);
    expect(found.map(some.read)).toEqual([{ oneOfTwo: rows[0]?.oneOfTwo, order: 0 }]);
  });
});

interface Values {
  readonly order: number;
  readonly text: string;
  readonly unknownText: string | null;
  readonly amountOfWork: bigint;
  readonly oneOfTwo: 'one' | 'two';
  readonly document: { readonly text: string; readonly number: number | null };
}

describe('a table', () => {
  it('has one column for each value, by its name', () => {
    expect(readings.list).toBe(
      'installation_id, position, telemetry_id, boot_id, sequence, observed_at_ms, received_at_ms, counter_epoch, ' +
        'cumulative_work_units, provenance, software_version, core_status, rpm_milli, speed_mm_per_second, distance_mm',
    );
    expect(halfHourBuckets.types.get('observed_round_count')).toBe('UInt8');
    expect(rounds.partitionExpression).toBe('intDiv(start_ms, 2592000000)');
    const round = { installationId: 'wheel', roundId: 1, workUnits: 0n, position: 1 };
    expect(rounds.findPartition({ ...round, startMs: 2_592_000_000 * 3 - 1 })).toBe(2);
    expect(foldSnapshots.partitionExpression).toBe('snapshot');
  });

  it('writes a row in the order of its columns', () => {
    const reading = acceptedReading({ position: 3, cumulativeWorkUnits: 2n ** 200n, softwareVersion: null });
    const text = createRowText();
    readings.write(text, reading);
    readings.write(text, acceptedReading({ bootId: 'a\tb\\' }));
    const lines = text.take().toString('utf8').split('\n');
    const { installationId, telemetryId, bootId, observedAtMs, receivedAtMs, counterEpoch } = reading;
    const cells = [installationId, 3, telemetryId, bootId, 3, observedAtMs, receivedAtMs, counterEpoch];
    const others = [2n ** 200n, 'simulated', null, 'ACTIVE', 0, 0, 0];
    expect(lines[0]).toBe([...cells, ...others].map(cellText).join('\t'));
    expect(lines[1]).toContain('\ta\\tb\\\\\t');
    expect(lines).toHaveLength(3);
  });

  it('refuses what no row of it can hold', () => {
    const row = (step: string, atMs: string | number) => [1, step, atMs, '{}'];
    expect(replays.read(row('ended', '1769860800000'))).toMatchObject({
      step: 'ended',
      atMs: 1_769_860_800_000,
    });
    expect(() => replays.read(row('lost', 1))).toThrow('a column of planned, prepared, ended holds lost');
    expect(() => replays.read(row('ended', 'soon'))).toThrow('a column of integers holds soon');
    expect(() => replays.read([1, 'ended', 1, null])).toThrow('a column of strings holds null');
  });
});
