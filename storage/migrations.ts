import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { activeTables, firstGeneration, listGenerations } from './generations.ts';
import { chainEvents, measurementEvents } from './tables/events.ts';
import { foldSnapshots } from './tables/foldSnapshots.ts';
import { activeGeneration, generationPointer } from './tables/generationPointer.ts';
import { generations } from './tables/generations.ts';
import { ingestEpochs } from './tables/ingestEpochs.ts';
import { migrations } from './tables/migrations.ts';
import { removals } from './tables/removals.ts';
import { replays } from './tables/replays.ts';
import { insertRows } from './tables/table.ts';
import { createEventsStatements, createStatements, resolveTables, type Tables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  /** Each may be run again: a process can be killed between two of them. */
  readonly statements: (database: Database) => readonly string[] | Promise<readonly string[]>;
}

const allMigrations: readonly Migration[] = [
  {
    number: 1,
    name: 'readings, rounds, half-hour buckets, fold snapshots',
    statements: () => [
      ...createStatements(resolveTables(firstGeneration)),
      activeGeneration.createStatement(),
    ],
  },
  {
    number: 2,
    name: 'replays',
    statements: () => [replays.createStatement()],
  },
  {
    // Nothing reads or writes these tables any more: migration 4 has others.
    number: 3,
    name: 'events of the feed',
    statements: async (database) => {
      const { generation } = await tablesBefore(database);
      return [`measurement_events_g${generation}`, 'chain_events'].map(
        (table) => `CREATE TABLE IF NOT EXISTS ${table} (
          id String,
          type String,
          installation_id String,
          recorded_at_ms Int64,
          position Int64,
          event String
        ) ENGINE = ReplacingMergeTree(position)
        PARTITION BY intDiv(recorded_at_ms, 2592000000)
        ORDER BY (recorded_at_ms, id)`,
      );
    },
  },
  {
    // Rows of the tables before do not tell when an event arrived. The folds make them again; the old ones are left.
    number: 4,
    name: 'events of the feed by arrival, by time and by ID',
    statements: async (database) => {
      const tables = await tablesBefore(database);
      return [
        ...createEventsStatements(measurementEvents, tables.measurementEvents),
        ...createEventsStatements(chainEvents, tables.chainEvents),
      ];
    },
  },
  {
    number: 5,
    name: 'what snapshots and generations were made with, epochs of ingest, removals, another pointer',
    statements: async (database) => [
      ...(await addSnapshotColumns(database)),
      generations.createStatement(),
      ingestEpochs.createStatement(),
      removals.createStatement(),
      // A process of an earlier version that still runs knows the other pointer only: it keeps to its tables, and cannot remove rows of ours.
      generationPointer.createStatement(),
      `INSERT INTO ${generationPointer.name} (${generationPointer.list}) SELECT ${activeGeneration.list} FROM ${activeGeneration.name}
       WHERE swap > (SELECT max(swap) FROM ${generationPointer.name})`,
    ],
  },
  {
    number: 6,
    name: 'formats and parts of snapshots',
    statements: addSnapshotColumns,
  },
];

/** The tables that were active when there was one pointer, which earlier versions move. */
async function tablesBefore(database: Database): Promise<Tables> {
  const rows = await database.select(
    `SELECT generation FROM ${activeGeneration.name} ORDER BY swap DESC LIMIT 1`,
  );
  return resolveTables(Number(rows[0]?.[0] ?? firstGeneration));
}

/** Tables that an earlier version created have no such columns; a new database has them from the beginning. */
async function addSnapshotColumns(database: Database): Promise<readonly string[]> {
  const { columns, types } = foldSnapshots;
  const statements: string[] = [];
  for (const { foldSnapshots: table } of (await listGenerations(database)).map(resolveTables)) {
    const found = await database.select(
      `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ${sqlString(table)}`,
    );
    const names = new Set(found.map(([name]) => name));
    // A process that was killed while it created a generation has not come to this table.
    if (names.size === 0) continue;
    for (const [at, name] of columns.entries())
      if (!names.has(name))
        statements.push(
          `ALTER TABLE ${table} ADD COLUMN ${name} ${types.get(name)} AFTER ${columns[at - 1]}`,
        );
  }
  return statements;
}

/** The database was written by a newer version of the program. */
export class DatabaseTooNew extends Error {
  override readonly name = 'DatabaseTooNew';

  constructor(found: number, known: number) {
    super(
      `the database is at migration ${found}, this program knows ${known}: run the version that wrote it, or a newer one`,
    );
  }
}

/**
 * Brings the tables up to this program, each migration once, in order.
 *
 * @returns the tables of the active generation.
 * @throws DatabaseTooNew when the database has a migration that this program does not know.
 * @throws StorageUnavailable when ClickHouse does not answer.
 */
export async function migrate(database: Database, logger: Logger): Promise<Tables> {
  await database.command(migrations.createStatement());
  const [[last = 0] = []] = await database.select(`SELECT max(number) FROM ${migrations.name}`);
  const applied = Number(last);
  const known = allMigrations.length;
  if (applied > known) throw new DatabaseTooNew(applied, known);
  for (const { number, name, statements } of allMigrations.slice(applied)) {
    for (const statement of await statements(database)) await database.command(statement);
    await insertRows(database, migrations, [{ number, name }]);
    logger.info({ migration: number, tables: name }, 'database migrated');
  }
  return activeTables(database);
}

/** Migrations that a database has, and that this program knows. */
export async function migrationState(database: Database): Promise<{ applied: number; known: number }> {
  const [row] = await database.select(
    `SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = ${sqlString(migrations.name)}`,
  );
  if (Number(row?.[0]) === 0) return { applied: 0, known: allMigrations.length };
  const [last] = await database.select(`SELECT max(number) FROM ${migrations.name}`);
  return { applied: Number(last?.[0]), known: allMigrations.length };
}
