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

/**
 * The run of the chain's row that the last message has stored with version 1.0; of no row if there is none. Its runs have a point in their names, and others
 * are of an upgrade that was undone.
 */
export async function findNewestRun(database: Database): Promise<string> {
  const tables = await findActiveTables(database);
  const newest = await Promise.all(
    rowTablesOf(stream).map(({ resolveName }) =>
      database.select(
        `SELECT stored_by, run FROM ${resolveName(tables)} WHERE run LIKE '%.%' ORDER BY stored_by DESC LIMIT 1`,
      ),
    ),
  );
  const [row] = newest.flat().sort(([one], [other]) => Number(other) - Number(one));
  return String(row?.[1] ?? 'first');
}
