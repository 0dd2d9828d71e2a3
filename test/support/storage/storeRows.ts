import type { Database } from '../../../storage/clickhouse/database.ts';
import { buildInserts, encodeRows } from '../../../storage/rows/rowInserts.ts';
import { type FoldedRows, noRows } from '../../../storage/tables/foldedRows.ts';

/** Stores rows as the writer of a stream does. */
export async function storeRows(database: Database, rows: Partial<FoldedRows>, run = 'run'): Promise<void> {
  const encoded = encodeRows({ ...noRows, throughPosition: 0, ...rows }, run);
  for (const { table, blocks } of buildInserts([encoded])) await database.insertBlocks(table, blocks);
}
