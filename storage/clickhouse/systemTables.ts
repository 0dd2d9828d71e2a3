import { TableMissing } from '../../actors/pages/olderRows.ts';
import type { ResultRow } from '../definition/column.ts';
import type { Database } from './database.ts';

/** Rows of a table; none if the table is missing. */
export function selectIfPresent(database: Database, sql: string): Promise<ResultRow[]> {
  return database.select(sql).catch((error: unknown) => {
    if (error instanceof TableMissing) return [];
    throw error;
  });
}

/** Columns of all tables, each after the name of its table and a point. */
export async function readColumns(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.select(
    'SELECT table, name FROM system.columns WHERE database = currentDatabase()',
  );
  return new Set(rows.map(([table, name]) => `${table}.${name}`));
}

/** Free and total bytes of each disk of ClickHouse. */
export async function readDisks(database: Database) {
  const rows = await database.select('SELECT name, free_space, total_space FROM system.disks');
  return rows.map(([name, free, total]) => [String(name), Number(free), Number(total)] as const);
}

/** Parts that ClickHouse set aside at its start because a file was damaged or missing. Reads silently lack their rows. */
export async function findDamagedParts(database: Database) {
  const rows = await database.select(
    `SELECT table, count() FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') GROUP BY table ORDER BY table`,
  );
  return rows.map(([table, count]) => ({ table: String(table), count: Number(count) }));
}
