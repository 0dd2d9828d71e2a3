import type { Database } from './database.ts';

/**
 * Parts that ClickHouse set aside at its start because one of their files was damaged or missing. Reads silently lack their rows.
 */
export async function findDamagedParts(
  database: Database,
): Promise<readonly { readonly table: string; readonly count: number }[]> {
  const rows = await database.select(
    `SELECT table, count() FROM system.detached_parts
     WHERE database = currentDatabase() AND startsWith(reason, 'broken') GROUP BY table ORDER BY table`,
  );
  return rows.map(([table, count]) => ({ table: String(table), count: Number(count) }));
}
