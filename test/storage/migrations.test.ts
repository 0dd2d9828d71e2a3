import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { findActiveTables, listGenerations } from '../../storage/generations.ts';
import {
  createPointerStatement,
  createUntypedEventStatements,
  createUntypedStatements,
  firstPointer,
  secondPointer,
} from '../../storage/migrations/untypedTables.ts';
import { migrate } from '../../storage/migrations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { chainEvents, measurementEvents } from '../../storage/tables/events.ts';
import { generations } from '../../storage/tables/generations.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { readings } from '../../storage/tables/readings.ts';
import { removals } from '../../storage/tables/removals.ts';
import { replays } from '../../storage/tables/replays.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import type { Table } from '../../storage/tables/table.ts';
import { resolveTables } from '../../storage/tables.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

const killedMigration = resolve(import.meta.dirname, '../../dist/tools/killedMigration.js');

/** Two wheels for 80 days, a reading each ten minutes: three partitions of the tables before, and four months. */
const readingCount = 2 * 80 * 144;
const startMs = 1_769_860_800_000;
const uuid = (text: string) => `toString(reinterpretAsUUID(sipHash128(${text})))`;

/** Rows as versions before have inserted them, some of them twice. */
const fillStatements = [
  `INSERT INTO readings_g1 SELECT concat('wheel.', toString(number % 2)), number + 1, ${uuid('number')}, ${uuid("'boot'")}, number,
     ${startMs} + intDiv(number, 2) * 600000, ${startMs} + intDiv(number, 2) * 600000 + 40, ${uuid("'epoch'")},
     toString(toUInt256(number) * toUInt256('1000000000000000000000000')), 'hardware', if(number % 7 = 0, NULL, '1.0'), 'ACTIVE',
     number % 90000, number % 3000, number * 3
   FROM numbers(${readingCount})`,
  'INSERT INTO readings_g1 SELECT * FROM readings_g1 WHERE position % 1000 = 0',
  `INSERT INTO readings_g1 VALUES
    ('old', 900001, ${uuid("'old'")}, ${uuid("'b'")}, 9007199254740991, -62167219200000, -62167219199999, ${uuid("'e'")}, '${uint256Max}',
     'derived', NULL, 'IDLE', 9007199254740991, 2, 3),
    ('far', 900002, ${uuid("'far'")}, ${uuid("'b'")}, 0, 253402300799999, 253402300799999, ${uuid("'e'")}, '0', 'replay', 'a\\tb', 'IDLE', 1, 2, 3),
    ('near', 900003, ${uuid("'near'")}, ${uuid("'b'")}, 0, -1, 0, ${uuid("'e'")}, '1', 'simulated', '', 'COUNTER_FAULT', 1, 2, 3)`,
  `INSERT INTO rounds_g1 SELECT 'wheel.0', number + 1, ${startMs} + number * 600000, toString(number), number * 2 + 2 FROM numbers(11000)`,
  `INSERT INTO half_hour_buckets_g1 VALUES
    ('wheel.0', ${startMs}, 3, '${uint256Max + 1n}', 1800, 10, 11, ${startMs + 12}, 13, ${startMs + 14}, 9),
    ('wheel.1', ${startMs}, 3, '${uint256Max}', 1800, 10, 11, ${startMs + 12}, 13, ${startMs + 14}, 9)`,
  ...['measurement_feed_g1', 'chain_feed'].flatMap((events) => {
    const [ids, times] = [events.replace(/(_g1)?$/, '_ids$1'), events.replace(/(_g1)?$/, '_times$1')];
    const category = events === 'chain_feed' ? "if(number % 2 = 0, 'protocol', 'players')" : "'measurement'";
    return [
      `INSERT INTO ${ids} SELECT '1.0', toString(number), 'wheel.0', number, 0, ${startMs} + number FROM numbers(500)`,
      `INSERT INTO ${times} SELECT '1.0', ${category}, 'wheel.0', ${startMs} + number, number, 0 FROM numbers(500)`,
      `INSERT INTO ${events} SELECT '1.0', ${category}, 'wheel.0', number, 0, toString(number), 'some.type', ${startMs} + number,
         ${startMs} + number, '{}' FROM numbers(500)`,
    ];
  }),
  `INSERT INTO fold_snapshots_g1 VALUES ('name', 0, 1, 'MINER_COUNTER', 4, 'digest', 'created', 9, '', ${startMs}, 2, 'sum', 'text')`,
  `INSERT INTO generations VALUES (1, 4, 'digest', 'created', ${startMs})`,
  `INSERT INTO migrations VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')`,
  `INSERT INTO ${secondPointer} VALUES (1, 1)`,
];

/** A database as the version before has left it. */
async function fillUntyped(database: Database): Promise<void> {
  const shared = [replays, generations, ingestEpochs, removals, migrations].map((table) => {
    const columns = table.storedColumns.map(({ name, type }) => `${name} ${type}`);
    return `CREATE TABLE ${table.name} (${columns.join(', ')}) ENGINE = MergeTree() ORDER BY ${columns[0]?.split(' ')[0]}`;
  });
  const statements = [
    ...createUntypedStatements(1),
    ...createUntypedEventStatements('measurement_feed_g1'),
    ...createUntypedEventStatements('chain_feed'),
    createPointerStatement(firstPointer),
    createPointerStatement(secondPointer),
    ...shared,
    ...fillStatements,
  ];
  for (const statement of statements) await database.command(statement);
}

async function openUntyped() {
  const path = temporaryDirectory();
  const database = openDatabase({ path });
  onTestFinished(() => database.close());
  await fillUntyped(database);
  return database;
}

async function readAll<Row>(database: Database, table: Table<Row>, name: string): Promise<Row[]> {
  return (await database.select(`SELECT ${table.list} FROM ${name} FINAL ORDER BY ALL`)).map(table.read);
}

/** What the typed tables hold. */
async function readState(database: Database) {
  const tables = await findActiveTables(database);
  return {
    readings: await readAll(database, readings, tables.readings),
    rounds: await readAll(database, rounds, tables.rounds),
    buckets: await readAll(database, halfHourBuckets, tables.halfHourBuckets),
    measurementEvents: await readAll(database, measurementEvents.events, tables.measurementEvents.events),
    measurementTimes: await readAll(database, measurementEvents.times, tables.measurementEvents.times),
    measurementIds: await readAll(database, measurementEvents.ids, tables.measurementEvents.ids),
    chainEvents: await readAll(database, chainEvents.events, tables.chainEvents.events),
    snapshots: await database.select(`SELECT * FROM ${tables.foldSnapshots}`),
  };
}

async function countRows(database: Database, table: string): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${table}`);
  return Number(row?.[0]);
}

describe('tables without types', () => {
  it('are copied with every row and snapshot, and kept for processes that still read them', async () => {
    const database = await openUntyped();
    const before = await countRows(database, 'readings_g1');
    const lines: { msg: string; remove?: string }[] = [];
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
    const tables = await migrate(database, logger);
    expect(tables).toEqual(resolveTables(2));

    const state = await readState(database);
    expect(state.readings).toHaveLength(readingCount + 3);
    expect(state.readings.find(({ position }) => position === 8)).toMatchObject({
      installationId: 'wheel.1',
      sequence: 7,
      observedAtMs: startMs + 3 * 600_000,
      receivedAtMs: startMs + 3 * 600_000 + 40,
      cumulativeWorkUnits: 7n * 10n ** 24n,
      provenance: 'hardware',
      softwareVersion: null,
      coreStatus: 'ACTIVE',
    });
    const extremes = state.readings.filter(({ position }) => position > 900_000);
    expect(extremes.sort((a, b) => a.position - b.position)).toMatchObject([
      {
        sequence: Number.MAX_SAFE_INTEGER,
        observedAtMs: -62_167_219_200_000,
        receivedAtMs: -62_167_219_199_999,
        cumulativeWorkUnits: uint256Max,
        provenance: 'derived',
        softwareVersion: null,
      },
      { observedAtMs: 253_402_300_799_999, cumulativeWorkUnits: 0n, softwareVersion: 'a\tb' },
      { observedAtMs: -1, receivedAtMs: 0, softwareVersion: '', coreStatus: 'COUNTER_FAULT' },
    ]);
    expect(state.rounds).toHaveLength(11_000);
    expect(state.rounds.at(-1)).toEqual({
      installationId: 'wheel.0',
      roundId: 11_000,
      startMs: startMs + 10_999 * 600_000,
      workUnits: 10_999n,
      position: 22_000,
    });
    expect(state.buckets.map(({ workUnits }) => workUnits)).toEqual([null, uint256Max]);
    expect(state.measurementEvents).toHaveLength(500);
    expect(state.measurementIds).toHaveLength(500);
    expect(state.chainEvents[0]).toMatchObject({ category: 'protocol', recordedAtMs: startMs });

    const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
    expect(await store.list('MINER_COUNTER')).toMatchObject([{ position: 9, configuration: 'digest' }]);
    expect(await readGenerationIdentity(database, tables)).toEqual({
      foldVersion: 4,
      configuration: 'digest',
      streamCreated: 'created',
    });
    // A process of the version before that still reads keeps to its tables, by its pointer.
    expect(await countRows(database, 'readings_g1')).toBe(before);
    expect(await database.select(`SELECT swap, generation FROM ${secondPointer}`)).toEqual([[1, 1]]);
    const remove = lines.find((line) => line.remove !== undefined)?.remove;
    expect(remove).toContain('DROP TABLE readings_g1; DROP TABLE ');
    for (const statement of remove?.split('; ') ?? []) await database.command(statement);

    expect(await countRows(database, 'readings')).toBe(readingCount + 3);
    const [month] = await database.select(
      `SELECT count(DISTINCT partition) FROM system.parts WHERE active AND table = '${tables.readings}'`,
    );
    expect(Number(month?.[0])).toBe(7);
    expect(await migrate(database, silentLogger)).toEqual(tables);
    expect(await readState(database)).toEqual(state);
  });

  it('of the first version are copied as well', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    onTestFinished(() => database.close());
    for (const sql of [...createUntypedStatements(1), createPointerStatement(firstPointer)])
      await database.command(sql.replace(/ (configuration String|ordinal Int64),$/gm, ''));
    await database.command(
      `CREATE TABLE migrations (number Int64, name String) ENGINE = MergeTree() ORDER BY number`,
    );
    await database.command("INSERT INTO migrations VALUES (1, 'a')");
    await database.command(fillStatements[0] as string);
    await migrate(database, silentLogger);
    expect((await readState(database)).readings).toHaveLength(readingCount);
  });

  it('are the tables of a new database afterwards, with types and comments', async () => {
    const describeTables = async (database: Database, generation: number) => {
      const rows = await database.select(
        `SELECT replaceOne(table, '_g${generation}', '') AS name, name, type, default_expression, comment, compression_codec
         FROM system.columns WHERE database = currentDatabase() AND table NOT LIKE '%_g1' OR table LIKE '%_g${generation}' ORDER BY ALL`,
      );
      return rows.filter(
        ([table]) => !/^(chain_feed(_ids|_times)?|.*_pointer|active_generation)$/.test(String(table)),
      );
    };
    const existing = await openUntyped();
    await migrate(existing, silentLogger);
    const upgraded = await describeTables(existing, 2);
    await existing.close();
    const fresh = openDatabase({ path: temporaryDirectory() });
    onTestFinished(() => fresh.close());
    await migrate(fresh, silentLogger);
    const withoutInternal = (rows: typeof upgraded) =>
      rows.filter(([table]) => !String(table).startsWith('_'));
    expect(withoutInternal(upgraded).map(String)).toEqual(
      withoutInternal(await describeTables(fresh, 1)).map(String),
    );
  });

  it('that change between two attempts are copied in their last state', async () => {
    const database = await openUntyped();
    let inserts = 0;
    const failing: Database = {
      ...database,
      command: async (sql, parameters) => {
        if (sql.startsWith('INSERT INTO') && sql.includes('SELECT') && ++inserts > 8)
          throw new Error('killed here');
        await database.command(sql, parameters);
      },
    };
    await expect(migrate(failing, silentLogger)).rejects.toThrow('killed here');
    // The version before runs again for a while.
    await database.command(
      'ALTER TABLE readings_g1 DELETE WHERE position % 10 = 0 OR position > 900000 SETTINGS mutations_sync = 2',
    );
    await database.command(
      `INSERT INTO readings_g1 SELECT * REPLACE (position + 1000000 AS position) FROM readings_g1 WHERE sequence = 10`,
    );
    await database.command('ALTER TABLE fold_snapshots_g1 DELETE WHERE 1 SETTINGS mutations_sync = 2');
    await expect(migrate(database, silentLogger)).rejects.toThrow('it is copied again');
    await migrate(database, silentLogger);
    const { readings: found, snapshots } = await readState(database);
    expect(found).toHaveLength(readingCount * 0.9 + 1);
    expect(found.filter(({ position }) => position > 900_000)).toHaveLength(1);
    expect(snapshots).toEqual([]);
  });

  it('of a rebuild that was under way are removed, and the generation changes', async () => {
    const database = await openUntyped();
    for (const sql of createUntypedStatements(2)) await database.command(sql);
    await database.command(`INSERT INTO generations VALUES (2, 5, 'digest', 'created', ${startMs})`);
    expect(await migrate(database, silentLogger)).toEqual(resolveTables(3));
    expect(await listGenerations(database)).toEqual([1, 3]);
  });

  it('stay as they are while the disk has no space for others', async () => {
    const database = await openUntyped();
    const small: Database = {
      ...database,
      select: async (sql, ...others) =>
        sql.includes('system.disks') ? [[1_000]] : database.select(sql, ...others),
    };
    await expect(migrate(small, silentLogger)).rejects.toThrow(
      /takes \d+ MiB, and the disk of ClickHouse has 1 MiB: make room/,
    );
    await migrate(database, silentLogger);
    expect((await readState(database)).readings).toHaveLength(readingCount + 3);
  });

  it('are copied completely when the process is killed at any statement', async () => {
    const undisturbed = await openUntyped();
    await migrate(undisturbed, silentLogger);
    const expected = await readState(undisturbed);
    await undisturbed.close();

    const path = temporaryDirectory();
    const before = openDatabase({ path });
    await fillUntyped(before);
    await before.close();
    let kills = 0;
    // Each start continues where the one before was killed, so the places of the kills differ from run to run of the loop.
    for (let killAt = 3; ; killAt += 3) {
      const moment = kills % 2 === 0 ? 'before' : 'during';
      const { status, signal, stdout, stderr } = spawnSync(
        process.execPath,
        [killedMigration, path, String(killAt), moment],
        { encoding: 'utf8' },
      );
      if (stdout === 'migrated\n') break;
      expect([signal, status, stderr]).toEqual(['SIGKILL', null, '']);
      kills++;
    }
    expect(kills).toBeGreaterThan(7);
    const database = openDatabase({ path });
    onTestFinished(() => database.close());
    expect(await findActiveTables(database)).toEqual(resolveTables(2));
    expect(await readState(database)).toEqual(expected);
    expect(await countRows(database, 'readings')).toBe(expected.readings.length);
  });
});
