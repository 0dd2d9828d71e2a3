import { expect, it } from 'vitest';
import type { Database } from '../../storage/database.ts';
import { createConsistentReads, withRemovalMarks } from '../../storage/removals.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { openTables } from '../support/storage/openTables.ts';

const removeNothing = async () => undefined;

async function open() {
  const { database } = await openTables();
  let statements = 0;
  const counted: Database = {
    ...database,
    select: (...query) => {
      statements++;
      return database.select(...query);
    },
  };
  let reads = 0;
  const readConsistently = createConsistentReads(counted);
  return {
    database,
    /** Number of reads, and of statements in addition to them. */
    read: async (meanwhile: () => Promise<unknown> = removeNothing) => {
      const before = { statements, reads };
      const result = await readConsistently(async () => {
        reads++;
        await meanwhile();
        return reads;
      });
      expect(result).toBe(reads);
      return { reads: reads - before.reads, statements: statements - before.statements };
    },
  };
}

it('rows are read once, and asked about once, while nothing was removed since they were read before', async () => {
  const { read } = await open();
  expect(await read()).toEqual({ reads: 1, statements: 2 });
  expect(await read()).toEqual({ reads: 1, statements: 1 });
});

it('rows are read again where some were removed since the read before', async () => {
  const { database, read } = await open();
  await read();
  await withRemovalMarks(database, removeNothing);
  expect(await read()).toEqual({ reads: 2, statements: 3 });
  expect(await read()).toEqual({ reads: 1, statements: 1 });
});

it('rows that are read while some are being removed are refused, until that has ended', async () => {
  const { database, read } = await open();
  for (let time = 0; time < 2; time++) {
    // The first time nothing was read before.
    await withRemovalMarks(database, () => expect(read()).rejects.toThrow(StorageUnavailable));
    await expect(read(() => withRemovalMarks(database, removeNothing))).rejects.toThrow(StorageUnavailable);
    expect((await read()).reads).toBe(1);
  }
});

it('a read that a removal overlaps is repeated, even if another read notices the removal first', async () => {
  const { database } = await open();
  const readConsistently = createConsistentReads(database);
  await readConsistently(removeNothing);
  const seen: (number | null)[] = [];
  await readConsistently(async (removal) => {
    seen.push(removal);
    if (seen.length > 1) return;
    await withRemovalMarks(database, removeNothing);
    await readConsistently(removeNothing);
  });
  expect(seen).toEqual([0, null]);
});
