import type { Database } from './database.ts';
import { findActiveTables } from './generations.ts';
import { rowTablesOf } from './rowTables.ts';
import { runColumn } from './tables/chainColumns.ts';
import { lineages } from './tables/lineages.ts';
import { sqlString } from './tables/sqlString.ts';
import { createTable, onCluster } from './tables/table.ts';

const stream = 'MINER_CHAIN';

/** Adds the table of lineages. Rows of the chain, which named the run of their fold, can be a run of one. May be repeated. */
export async function addLineages(database: Database): Promise<void> {
  await createTable(database, lineages);
  const tables = await findActiveTables(database);
  for (const { resolveName } of rowTablesOf(stream))
    await database.command(
      `ALTER TABLE ${resolveName(tables)}${onCluster(database.cluster)} COMMENT COLUMN run ${sqlString(runColumn.comment ?? '')}`,
    );
}
