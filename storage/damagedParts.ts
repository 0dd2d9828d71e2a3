import type { Database } from './database.ts';

/** Parts of a table that ClickHouse has set aside when it started, because a file of them was damaged or missing. */
interface DamagedParts {
  readonly table: string;
  readonly count: number;
}

/** Their rows are missing in what is read, and nothing else says so. */
export async function findDamagedParts(database: Database): Promise<readonly DamagedParts[]> {
  const rows = await database.select(
    `SELECT table, count() FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') GROUP BY table ORDER BY table`,
  );
  return rows.map(([table, count]) => ({ table: String(table), count: Number(count) }));
}
