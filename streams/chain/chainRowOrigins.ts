import type { Database } from '../../storage/database.ts';
import { readNewestChainRows } from '../../storage/newestChainRows.ts';
import type { Tables } from '../../storage/tables.ts';
import type { RowOrigin } from '../follower/storedHistory.ts';

/** Rows of the chain name the message that stored them, and the time at which the stream stored that message. */
export async function readChainRowOrigins(database: Database, tables: Tables): Promise<RowOrigin[]> {
  const newest = await readNewestChainRows(database, tables);
  return newest.map(({ storedBy, storedAtMs }) => ({
    position: storedBy,
    isMessage: ({ time }) => time.getTime() === storedAtMs,
  }));
}
