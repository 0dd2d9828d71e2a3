import type { StoredBy } from '../actors/chain/rows/rowOrigin.ts';
import type { Database } from './database.ts';
import { listRowTables } from './rowTables.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import type { Tables } from './tables.ts';

/** The same columns in every table of the chain. */
const origin = ownerActivity.select('storedBy', 'storedAtMs');

/** @returns the message that stored the newest row, for each table of the chain's history that has rows. */
export async function readNewestChainRows(database: Database, tables: Tables): Promise<StoredBy[]> {
  const newest = await Promise.all(
    listRowTables(tables, 'MINER_CHAIN').map((table) =>
      database.select(`SELECT ${origin.list} FROM ${table} ORDER BY stored_by DESC LIMIT 1`),
    ),
  );
  return newest.flat().map(origin.read);
}
