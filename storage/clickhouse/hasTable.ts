import type { Database } from './database.ts';

/** Whether this database has a table. */
export async function hasTable(database: Database, name: string): Promise<boolean> {
  const [row] = await database.select(
    'SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name },
  );
  return Number(row?.[0]) > 0;
}
