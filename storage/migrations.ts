import type { Logger } from 'pino';
import type { Database } from './database.ts';
import { findActiveTables, firstGeneration } from './generations.ts';
import { typeTables } from './migrations/typeTables.ts';
import {
  createPointerStatement,
  createUntypedEventStatements,
  createUntypedStatements,
  firstPointer,
  readPointer,
  secondPointer,
  untypedChainTables,
} from './migrations/untypedTables.ts';
import { createChainTables, createGenerationTables } from './rowTables.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { agedRows } from './tables/agedRows.ts';
import { generationPointer } from './tables/generationPointer.ts';
import { generations } from './tables/generations.ts';
import { ingestEpochs } from './tables/ingestEpochs.ts';
import { migrations } from './tables/migrations.ts';
import { removals } from './tables/removals.ts';
import { replays } from './tables/replays.ts';
import { commentStatement, createTable, insertRows } from './tables/table.ts';
import { resolveTables, type Tables } from './tables.ts';
import { replaceViews } from './views.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  /** May be run again: a process can be killed between two of its statements. */
  readonly run: (database: Database, logger: Logger) => Promise<void>;
}

/** Tables that all generations share; their columns have had the same types from the beginning. */
const sharedTables = [replays, generations, ingestEpochs, removals, migrations] as const;

/** How a database of an earlier version becomes one of this; a new one has all of it from the beginning. */
const allMigrations: readonly Migration[] = [
  {
    number: 1,
    name: 'readings, rounds, half-hour buckets, fold snapshots',
    run: (database) =>
      runAll(database, [...createUntypedStatements(firstGeneration), createPointerStatement(firstPointer)]),
  },
  {
    number: 2,
    name: 'replays',
    run: (database) => createTable(database, replays),
  },
  {
    // Its tables were replaced by those of migration 4.
    number: 3,
    name: 'events of the feed',
    run: async () => undefined,
  },
  {
    number: 4,
    name: 'events of the feed by arrival, by time and by ID',
    run: async (database) => {
      const generation = await readPointer(database, firstPointer);
      await runAll(database, [
        ...createUntypedEventStatements(`measurement_feed_g${generation}`),
        ...createUntypedEventStatements(untypedChainTables.events),
      ]);
    },
  },
  {
    number: 5,
    name: 'what snapshots and generations were made with, epochs of ingest, removals, another pointer',
    run: async (database) => {
      const snapshots = `fold_snapshots_g${await readPointer(database, firstPointer)}`;
      await runAll(database, [
        `ALTER TABLE ${snapshots} ADD COLUMN IF NOT EXISTS configuration String AFTER fold_version`,
        `ALTER TABLE ${snapshots} ADD COLUMN IF NOT EXISTS ordinal Int64 AFTER taken_at_ms`,
      ]);
      for (const table of [generations, ingestEpochs, removals]) await createTable(database, table);
      await runAll(database, [
        // A process of an earlier version that still runs knows the other pointer only: it keeps to its tables, and cannot remove rows of ours.
        createPointerStatement(secondPointer),
        `INSERT INTO ${secondPointer} (swap, generation) SELECT swap, generation FROM ${firstPointer}
         WHERE swap > (SELECT max(swap) FROM ${secondPointer})`,
      ]);
    },
  },
  {
    number: 6,
    name: 'columns with types, comments, views',
    run: async (database, logger) => {
      await typeTables(database, logger);
      for (const table of sharedTables) await database.command(commentStatement(table, database.cluster));
    },
  },
  {
    // Its rows come from the newest snapshot, which holds them until they are stored: the fold restores it, and evicts them.
    number: 7,
    name: 'history of the chain',
    run: async (database) => createChainTables(database, await findActiveTables(database)),
  },
  {
    number: 8,
    name: 'what TTLs of rows have removed',
    run: (database) => createTable(database, agedRows),
  },
];

async function runAll(database: Database, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await database.command(statement);
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
 * Brings the tables up to this program, each migration once, in order, and the views to the active tables.
 *
 * @returns the tables of the active generation.
 * @throws DatabaseTooNew when the database has a migration that this program does not know.
 * @throws NotEnoughDisk when the tables have to be copied, and there is no room.
 * @throws StorageUnavailable when ClickHouse does not answer.
 */
export async function migrate(database: Database, logger: Logger): Promise<Tables> {
  await createTable(database, migrations);
  const applied = await newestMigration(database);
  const known = allMigrations.length;
  if (applied > known) throw new DatabaseTooNew(applied, known);
  if (applied === 0 && !(await hasUntypedTables(database))) {
    await createAll(database);
    await insertRows(
      database,
      migrations,
      allMigrations.map(({ number, name }) => ({ number, name })),
    );
    logger.info({ migration: known }, 'database created');
  } else {
    for (const { number, name, run } of allMigrations.slice(applied)) {
      await run(database, logger);
      await insertRows(database, migrations, [{ number, name }]);
      logger.info({ migration: number, tables: name }, 'database migrated');
    }
  }
  const active = await findActiveTables(database);
  // A process that was killed while it replaced tables may have left those of before.
  await replaceViews(database, active);
  return active;
}

async function createAll(database: Database): Promise<void> {
  const first = resolveTables(firstGeneration);
  await createGenerationTables(database, first);
  await createChainTables(database, first);
  for (const table of [...sharedTables, agedRows, generationPointer]) await createTable(database, table);
}

/** A process of an earlier version was killed while it created the first tables. */
async function hasUntypedTables(database: Database): Promise<boolean> {
  const [row] = await database.select(
    'SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name: firstPointer },
  );
  const [column] = await database.select(
    `SELECT count() FROM system.columns
     WHERE database = currentDatabase() AND table = 'readings_g1' AND name = 'observed_at_ms' AND default_kind = ''`,
  );
  return Number(row?.[0]) + Number(column?.[0]) > 0;
}

/** Migrations that a database has, and that this program knows. */
export async function migrationState(database: Database): Promise<{ applied: number; known: number }> {
  const [row] = await database.select(
    'SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name: migrations.name },
  );
  const applied = Number(row?.[0]) === 0 ? 0 : await newestMigration(database);
  return { applied, known: allMigrations.length };
}

/** Lowest migration whose rows and snapshots this program reads unchanged. */
const readableSince = 6;

/** Whether rows and snapshots can be read before the database is migrated; false for a new database, too. */
export async function canReadStored(database: Database): Promise<boolean> {
  return (await migrationState(database)).applied >= readableSince;
}

/** @throws DatabaseTooNew when the database has a migration that this program does not know. */
export async function requireKnownMigration(database: Database): Promise<void> {
  const { applied, known } = await migrationState(database);
  if (applied > known) throw new DatabaseTooNew(applied, known);
}

/**
 * For a process that only reads: memory evicts what the tables of this version hold.
 *
 * @throws StorageUnavailable while the process that ingests has not migrated the database yet.
 */
export async function requireMigrated(database: Database): Promise<void> {
  const { applied, known } = await migrationState(database);
  if (applied < known)
    throw new StorageUnavailable(
      `the database is at migration ${applied}, this program reads ${known}: the process that ingests has to be of this version first`,
    );
}

async function newestMigration(database: Database): Promise<number> {
  const [row] = await database.select(`SELECT max(number) FROM ${migrations.name}`);
  return Number(row?.[0]);
}
