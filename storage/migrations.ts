import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { activeTables, firstGeneration } from './generations.ts';
import { createEventsStatements, createStatements, type Tables, tablesOf } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  /** Each may be run again: a process can be killed between two of them. */
  readonly statements: (database: Database) => readonly string[] | Promise<readonly string[]>;
}

const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'readings, rounds, half-hour buckets, fold snapshots',
    statements: () => [
      ...createStatements(tablesOf(firstGeneration)),
      // The active generation is the one of the highest swap.
      `CREATE TABLE IF NOT EXISTS active_generation (swap Int64, generation Int64)
       ENGINE = MergeTree() ORDER BY swap`,
    ],
  },
  {
    number: 2,
    name: 'replays',
    statements: () => [
      `CREATE TABLE IF NOT EXISTS replays (generation Int64, step String, at_ms Int64, plan String)
       ENGINE = MergeTree() ORDER BY (generation, at_ms)`,
    ],
  },
  {
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
      const { measurementEvents, chainEvents } = await tablesBefore(database);
      return [measurementEvents, chainEvents].flatMap(createEventsStatements);
    },
  },
  {
    number: 5,
    name: 'what snapshots and generations were made with, epochs of ingest, removals, another pointer',
    statements: async (database) => [
      ...(await addSnapshotColumns(database)),
      `CREATE TABLE IF NOT EXISTS generations (
        generation Int64, fold_version Int64, configuration String, stream_created String, at_ms Int64
      ) ENGINE = MergeTree() ORDER BY (generation, at_ms)`,
      'CREATE TABLE IF NOT EXISTS ingest_epochs (epoch Int64, holder String, at_ms Int64) ENGINE = MergeTree() ORDER BY epoch',
      'CREATE TABLE IF NOT EXISTS removals (number Int64, step String) ENGINE = MergeTree() ORDER BY number',
      // A process of an earlier version that still runs knows the other pointer only: it keeps to its tables, and cannot remove rows of ours.
      `CREATE TABLE IF NOT EXISTS generation_pointer (swap Int64, generation Int64) ENGINE = MergeTree() ORDER BY swap`,
      'INSERT INTO generation_pointer SELECT swap, generation FROM active_generation WHERE swap > (SELECT max(swap) FROM generation_pointer)',
    ],
  },
];

/** The tables that were active when there was one pointer, which earlier versions move. */
async function tablesBefore(database: Database): Promise<Tables> {
  const rows = await database.select('SELECT generation FROM active_generation ORDER BY swap DESC LIMIT 1');
  return tablesOf(Number(rows[0]?.[0] ?? firstGeneration));
}

/** Tables that an earlier version created have no such columns; a new database has them from the beginning. */
async function addSnapshotColumns(database: Database): Promise<readonly string[]> {
  const { foldSnapshots } = await tablesBefore(database);
  const found = await database.select(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ${sqlString(foldSnapshots)}`,
  );
  const names = new Set(found.map(([name]) => name));
  return [
    ['configuration', 'String AFTER fold_version'],
    ['ordinal', 'Int64 AFTER taken_at_ms'],
  ]
    .filter(([name]) => !names.has(name as string))
    .map(([name, type]) => `ALTER TABLE ${foldSnapshots} ADD COLUMN ${name} ${type}`);
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
  await database.command(
    'CREATE TABLE IF NOT EXISTS migrations (number Int64, name String) ENGINE = MergeTree() ORDER BY number',
  );
  const [[last = 0] = []] = await database.select('SELECT max(number) FROM migrations');
  const applied = Number(last);
  const known = migrations.length;
  if (applied > known) throw new DatabaseTooNew(applied, known);
  for (const { number, name, statements } of migrations.slice(applied)) {
    for (const statement of await statements(database)) await database.command(statement);
    await database.insert('migrations', ['number', 'name'], [[number, name]]);
    logger.info({ migration: number, tables: name }, 'database migrated');
  }
  return activeTables(database);
}

/** Migrations that a database has, and that this program knows. */
export async function migrationState(database: Database): Promise<{ applied: number; known: number }> {
  const [row] = await database.select(
    "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'migrations'",
  );
  if (Number(row?.[0]) === 0) return { applied: 0, known: migrations.length };
  const [last] = await database.select('SELECT max(number) FROM migrations');
  return { applied: Number(last?.[0]), known: migrations.length };
}
