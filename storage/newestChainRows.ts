import type { Database } from './database.ts';
import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { chainEvents } from './tables/events.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import type { ColumnSelection } from './tables/table.ts';
import type { Tables } from './tables.ts';

/** What the newest rows of the chain's history say of the messages that they were made from, which `position` names. */
interface NewestChainRows {
  /** The newest event of the feed, with the time at which the stream stored its message; null without any. */
  readonly event: { readonly position: number; readonly arrivedAtMs: number } | null;
  /** The newest row of each other table, with the block that its message made safe. */
  readonly blocks: readonly { readonly position: number; readonly blockNumber: bigint }[];
}

const eventPlaces = chainEvents.events.select('position', 'arrivedAtMs');
const blockPlaces = [
  ['ownerActivity', ownerActivity.select('position', 'blockNumber')],
  ['settlements', chainSettlements.select('position', 'blockNumber')],
  ['checkpoints', chainCheckpoints.select('position', 'blockNumber')],
] as const;

export async function readNewestChainRows(database: Database, tables: Tables): Promise<NewestChainRows> {
  const blocks = await Promise.all(
    blockPlaces.map(([table, places]) => readNewest(database, tables[table], places)),
  );
  return {
    event: await readNewest(database, tables.chainEvents.events, eventPlaces),
    blocks: blocks.filter((row) => row !== null),
  };
}

async function readNewest<Row>(
  database: Database,
  table: string,
  { list, read }: ColumnSelection<Row>,
): Promise<Row | null> {
  const [row] = await database.select(
    `SELECT ${list} FROM ${table} WHERE position = (SELECT max(position) FROM ${table}) LIMIT 1`,
  );
  return row === undefined ? null : read(row);
}
