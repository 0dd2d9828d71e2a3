import type { Logger } from 'pino';
import { OperatorError } from '../../actors/operatorError.ts';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../clickhouse/database.ts';
import { readColumns, selectIfPresent } from '../clickhouse/systemTables.ts';
import { createTable, insertRows } from '../definition/table.ts';
import { agedRows } from '../tables/agedRows.ts';
import { foldStates } from '../tables/foldStates.ts';
import { ingestEpochs } from '../tables/ingestEpochs.ts';
import { lineages } from '../tables/lineages.ts';
import { migrations } from '../tables/migrations.ts';
import { rowTables } from '../tables/rowTables.ts';

export interface Migration {
  readonly name: string;
  /** May run again: the process can be killed before the number is noted. */
  readonly run: (database: Database) => Promise<void>;
}

/** The schema of the first release. A new database gets all tables at once. Migration 1 was never released. */
const baseline = { number: 2, name: 'baseline' };

/** Changes since the baseline, in order; the first is migration 3 (CONTRIBUTING.md, A column). */
const allMigrations: readonly Migration[] = [];

const allTables = [
  ...rowTables.map(({ definition }) => definition),
  foldStates,
  ingestEpochs,
  lineages,
  migrations,
  agedRows,
];

/**
 * Applies the missing migrations, each once and in order.
 *
 * @throws OperatorError when this program does not know a migration of the database, or a column is missing.
 * @throws StoreUnavailable when ClickHouse does not answer.
 */
export async function migrate(
  database: Database,
  logger: Logger,
  later: readonly Migration[] = allMigrations,
): Promise<void> {
  await createTable(database, migrations);
  const { applied, known } = await requireUsable(database, later);
  if (applied === 0) {
    for (const table of allTables) await createTable(database, table);
    await insertRows(database, migrations, [baseline, ...later.map(toRow)]);
    logger.info({ migration: known }, 'database created');
  } else {
    for (const row of later.map(toRow).slice(applied - baseline.number)) {
      await row.run(database);
      await insertRows(database, migrations, [row]);
      logger.info({ migration: row.number, tables: row.name }, 'database migrated');
    }
  }
  await requireColumns(database);
}

function toRow(migration: Migration, index: number): Migration & { readonly number: number } {
  return { ...migration, number: baseline.number + 1 + index };
}

interface MigrationState {
  /** Number of the newest migration that the database has; 0 for none. */
  readonly applied: number;
  /** Number of the newest one that this program knows. */
  readonly known: number;
}

export async function migrationState(
  database: Database,
  later: readonly Migration[] = allMigrations,
): Promise<MigrationState> {
  const known = baseline.number + later.length;
  const [newest] = await selectIfPresent(database, `SELECT max(number) FROM ${migrations.name}`);
  return { applied: Number(newest?.[0] ?? 0), known };
}

/** Whether the database has tables. */
export async function hasTables(database: Database): Promise<boolean> {
  return (await migrationState(database)).applied > 0;
}

/**
 * Makes sure that this program can migrate the database and write to it.
 *
 * @throws OperatorError when this program does not know a migration of the database, or a column is missing.
 */
export async function requireUsable(
  database: Database,
  later: readonly Migration[] = allMigrations,
): Promise<MigrationState> {
  const state = await migrationState(database, later);
  const { applied, known } = state;
  if (applied >= known) await requireColumns(database);
  if (applied > known)
    throw new OperatorError(
      `the database is at migration ${applied}, this program knows ${known}: run the version that wrote it, or a newer one`,
      { kind: 'unusable' },
    );
  return state;
}

/**
 * Makes sure that a process that only reads finds the tables of its version.
 *
 * @throws OperatorError when a column is missing.
 * @throws StoreUnavailable while the process that ingests has not migrated the database yet.
 */
export async function requireMigrated(database: Database): Promise<void> {
  const { applied, known } = await migrationState(database);
  if (applied < known)
    throw new StoreUnavailable(
      `the database is at migration ${applied}, this program reads ${known}: first upgrade the process that ingests`,
    );
  await requireColumns(database);
}

/** @throws OperatorError when a table lacks a column, which no migration adds. */
async function requireColumns(database: Database): Promise<void> {
  const found = await readColumns(database);
  for (const { name, storedColumns } of allTables) {
    const missing = storedColumns.map((column) => `${name}.${column.name}`).filter((one) => !found.has(one));
    const more = missing.length > 1 ? ` and ${missing.length - 1} more` : '';
    if (missing.length > 0)
      throw new OperatorError(
        `the database has another schema: it lacks ${missing[0]}${more}. Run the version that wrote it, or use an empty database, which is filled from the streams`,
        { kind: 'unusable' },
      );
  }
}
