import type { Database } from './database.ts';

/** Parts of a table that ClickHouse set aside at its start because one of their files was damaged or missing. */
interface DamagedParts {
  readonly table: string;
  readonly count: number;
}

/** Reads silently lack the rows of these parts. */
export async function findDamagedParts(database: Database): Promise<readonly DamagedParts[]> {
  const rows = await database.select(
    `SELECT table, count() FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') GROUP BY table ORDER BY table`,
  );
  return rows.map(([table, count]) => ({ table: String(table), count: Number(count) }));
}
