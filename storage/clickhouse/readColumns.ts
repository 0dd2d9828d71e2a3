import type { Database } from './database.ts';

/** Columns of all tables, each after the name of its table and a point. */
export async function readColumns(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.select(
    'SELECT table, name FROM system.columns WHERE database = currentDatabase()',
  );
  return new Set(rows.map(([table, name]) => `${table}.${name}`));
}
