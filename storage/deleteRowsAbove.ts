import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database, RowCondition } from './database.ts';
import { readNewestReading } from './observations.ts';
import { pollUntil } from './pollUntil.ts';
import { withRemovalMarks } from './removals.ts';
import { findMessageColumn, listRowTables } from './rowTables.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import type { Tables } from './tables.ts';

const pollMs = 50;
/** If rows return after each attempt, another process writes them. */
const attemptsMax = 5;

interface RemovedRows {
  readonly tables: Tables;
  readonly stream: InputStreamName;
  readonly position: number;
  /** Deletes snapshots that rely on the rows; omitted if no snapshot does. */
  readonly deleteSnapshots?: () => Promise<void>;
}

/**
 * Removes the rows that messages of a stream above `position` stored, and waits until they are gone.
 *
 * @returns the number of removed rows.
 */
export async function deleteRowsAbove(
  database: Database,
  { tables, stream, position, deleteSnapshots = async () => undefined }: RemovedRows,
): Promise<number> {
  const column = findMessageColumn(stream);
  if (column === null) {
    await deleteSnapshots();
    return 0;
  }
  return withRemovalMarks(database, async () => {
    await deleteSnapshots();
    const isAbove = { sql: `${column} > {position:UInt64}`, parameters: { position } };
    return deleteFrom(database, listRowTables(tables, stream), isAbove);
  });
}

/**
 * Removes rows above `position` and above the newest stored reading. Readings are written last, so such rows are from an insert that a kill
 * interrupted. If the stream has lost their messages too, later rows with the same keys would have lower positions and never replace them.
 */
export async function deleteCutOffRows(database: Database, tables: Tables, position: number): Promise<void> {
  const newest = await readNewestReading(database, tables);
  const through = Math.max(position, newest?.position ?? 0);
  const isAbove = { sql: 'position > {position:UInt64}', parameters: { position: through } };
  for (const table of listRowTables(tables, 'MINER_COUNTER'))
    if ((await countRows(database, table, isAbove)) > 0) {
      await deleteRowsAbove(database, { tables, stream: 'MINER_COUNTER', position: through });
      return;
    }
}

/** Removes the rows of a stream that meet a condition from tables that nobody reads, and waits until they are gone. */
export function deleteRows(
  database: Database,
  tables: Tables,
  condition: RowCondition,
  stream: InputStreamName = 'MINER_COUNTER',
): Promise<number> {
  return deleteFrom(database, listRowTables(tables, stream), condition);
}

/** Removes in reverse order of writing: a stored row shows that the rows written before it are stored too. */
async function deleteFrom(
  database: Database,
  tables: readonly string[],
  condition: RowCondition,
): Promise<number> {
  let removed = 0;
  for (const table of tables.toReversed()) {
    const count = await countRows(database, table, condition);
    if (count === 0) continue;
    await deleteWhere(database, table, condition);
    removed += count;
  }
  return removed;
}

/** A mutation does not cover rows that are inserted after it began, so it is repeated until no row is left. */
export async function deleteWhere(database: Database, table: string, condition: RowCondition): Promise<void> {
  const isEmpty = async () => (await countRows(database, table, condition)) === 0;
  const hasEnded = async () => (await isEmpty()) || !(await isMutating(database, table));
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    await database.command(`ALTER TABLE ${table} DELETE WHERE ${condition.sql}`, condition.parameters);
    await pollUntil(hasEnded, { everyMs: pollMs });
    if (await isEmpty()) return;
  }
  throw new StorageUnavailable(`removed rows of ${table} have come back: another process writes them`);
}

async function isMutating(database: Database, table: string): Promise<boolean> {
  const [row] = await database.select(
    `SELECT count() FROM system.mutations
     WHERE database = currentDatabase() AND table = {table:String} AND is_done = 0`,
    { table },
  );
  return Number(row?.[0]) > 0;
}

async function countRows(database: Database, table: string, condition: RowCondition): Promise<number> {
  const { sql, parameters } = condition;
  const [row] = await database.select(`SELECT count() FROM ${table} WHERE ${sql}`, parameters);
  return Number(row?.[0]);
}
