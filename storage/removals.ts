import type { Database } from './database.ts';
import { StorageUnavailable } from './storageUnavailable.ts';
import { removals } from './tables/removals.ts';
import { insertRows } from './tables/table.ts';

/** Marks the time in which `remove` removes rows that may be read meanwhile. */
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

/** Whether a removal was killed. Only meaningful in the process that removes rows. */
export async function hasOpenRemoval(database: Database): Promise<boolean> {
  const { begun, ended } = await readRemovals(database);
  return begun > ended;
}

/**
 * Reads rows while no removal is under way. Instead of checking before each read, it checks that no removal began since an earlier read. If one
 * did, it reads again.
 *
 * `read` gets the number of the last removal: rows that it read under the same number may be used again. With null it must read all rows.
 *
 * @throws StorageUnavailable (as a rejection) if rows were removed meanwhile, so the result may have holes.
 */
export function createConsistentReads(
  database: Database,
): <Result>(read: (removal: number | null) => Promise<Result>) => Promise<Result> {
  const findRemoval = createRemovalQuery(database);
  let lastRemoval: number | null = null;
  return async (read) => {
    // Another read may notice a later removal meanwhile, which this one must not take for its own.
    const expected = lastRemoval;
    if (expected !== null) {
      const result = await read(expected);
      if ((await findRemoval()) === expected) return result;
      if (lastRemoval === expected) lastRemoval = null;
    }
    const before = await readRemovals(database);
    const result = await read(null);
    const removal = await findRemoval();
    if (before.begun > before.ended || removal !== before.begun)
      throw new StorageUnavailable('rows of messages that the stream has lost are being removed');
    lastRemoval = removal;
    return result;
  };
}

/** Finds the number of the last removal. In an embedded database, ClickHouse is asked again only after this process began a removal. */
function createRemovalQuery(database: Database): () => Promise<number> {
  let known = { marks: Number.NaN, number: 0 };
  return async () => {
    const marks = database.insertMarks(removals.name);
    if (marks === known.marks) return known.number;
    const number = await removalNumber(database);
    if (marks !== null) known = { marks, number };
    return number;
  };
}

/** Number of the last removal that began. If it changed, earlier results are invalid. */
export async function removalNumber(database: Database): Promise<number> {
  return (await readRemovals(database)).begun;
}

/**
 * Numbers of the last removals that began and ended: ClickHouse removes rows part by part, so a concurrent read may see only some of them.
 * A removal that began and did not end is under way, or was killed.
 */
async function readRemovals(database: Database) {
  const [row] = await database.select(
    `SELECT maxIf(number, step = 'begun'), maxIf(number, step = 'ended') FROM ${removals.name}`,
  );
  return { begun: Number(row?.[0] ?? 0), ended: Number(row?.[1] ?? 0) };
}
