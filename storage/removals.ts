import type { Database } from './database.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { removals } from './tables/removals.ts';
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
  const mark = (step: 'begun' | 'ended') => insertRows(database, removals, [{ number: begun + 1, step }]);
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
 * Reads rows while none are being removed. Whether a removal is under way is not asked before each read, since it is enough that none has begun
 * since an earlier one. Where one has, the rows are read again.
 *
 * The read gets the number of the last removal, under which it may use rows that it has read before; null if it must read all of them.
 *
 * @throws StorageUnavailable (as a rejection) when some were removed, so that what was read may have a hole.
 */
export function createConsistentReads(
  database: Database,
): <Result>(read: (removal: number | null) => Promise<Result>) => Promise<Result> {
  let lastRemoval: number | null = null;
  return async (read) => {
    // Another read may notice a later removal meanwhile, which this one must not take for its own.
    const expected = lastRemoval;
    if (expected !== null) {
      const result = await read(expected);
      if ((await removalNumber(database)) === expected) return result;
      if (lastRemoval === expected) lastRemoval = null;
    }
    const { result, removal } = await readBetween(database, () => read(null));
    lastRemoval = removal;
    return result;
  };
}

/** @returns the number of the last removal, too, which has ended. */
async function readBetween<Result>(database: Database, read: () => Promise<Result>) {
  const before = await readRemovals(database);
  const result = await read();
  const removal = await removalNumber(database);
  if (before.begun > before.ended || removal !== before.begun)
    throw new StorageUnavailable('rows of messages that the stream has lost are being removed');
  return { result, removal };
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
