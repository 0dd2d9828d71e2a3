import type { Database } from './database.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { type RemovalRow, removals } from './tables/removals.ts';
import { insertRows } from './tables/table.ts';

/** Rows are removed part by part, so whoever reads meanwhile may see some of them. These marks reveal it. */
interface Removals {
  /** Numbers of the removals that were begun and ended last; one that is begun and not ended is under way, or was killed. */
  readonly begun: number;
  readonly ended: number;
}

/** Marks the time in which `remove` removes rows that somebody may be reading. */
export async function withRemovalMarks<Result>(
  database: Database,
  remove: () => Promise<Result>,
): Promise<Result> {
  const { begun } = await readRemovals(database);
  const mark = (step: RemovalRow['step']) => insertRows(database, removals, [{ number: begun + 1, step }]);
  await mark('begun');
  const result = await remove();
  await mark('ended');
  return result;
}

/** Whether a removal was begun and did not end, which only the process that removes may ask: it was killed then. */
export async function hasOpenRemoval(database: Database): Promise<boolean> {
  const { begun, ended } = await readRemovals(database);
  return begun > ended;
}

/**
 * Reads rows while none are being removed.
 *
 * @throws StorageUnavailable when some were, so that what was read may have a hole.
 */
export async function readConsistently<Result>(
  database: Database,
  read: () => Promise<Result>,
): Promise<Result> {
  const before = await readRemovals(database);
  const result = await read();
  const after = await readRemovals(database);
  if (before.begun > before.ended || after.begun !== before.begun)
    throw new StorageUnavailable('rows of messages that the stream has lost are being removed');
  return result;
}

/** Changes with each removal: what was found before one has to be found again. */
export async function removalNumber(database: Database): Promise<number> {
  return (await readRemovals(database)).begun;
}

async function readRemovals(database: Database): Promise<Removals> {
  const [row] = await database.select(
    `SELECT maxIf(number, step = 'begun'), maxIf(number, step = 'ended') FROM ${removals.name}`,
  );
  return { begun: Number(row?.[0] ?? 0), ended: Number(row?.[1] ?? 0) };
}
