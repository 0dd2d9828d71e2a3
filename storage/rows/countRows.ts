import type { Database, RowCondition } from '../clickhouse/database.ts';

/** Counts the rows that meet a condition, each once. */
export async function countRows(
  database: Database,
  table: string,
  { sql, parameters }: RowCondition,
): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${table} FINAL WHERE ${sql}`, parameters);
  return Number(row?.[0]);
}
