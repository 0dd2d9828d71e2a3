import { describe, expect, it } from 'vitest';
import type { Database } from '../../storage/database.ts';
import { deleteCutOffRows, deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import {
  createConsistentReads,
  hasOpenRemoval,
  removalNumber,
  withRemovalMarks,
} from '../../storage/removals.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { removals } from '../../storage/tables/removals.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { insertRows } from '../../storage/tables/table.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const removeNothing = async () => undefined;

async function open({ hasOtherWriters = false } = {}) {
  const { database } = await openTables();
  let statements = 0;
  const counted: Database = {
    ...database,
    ...(hasOtherWriters && { insertMarks: () => null }),
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

describe.each([
  { owner: 'this process alone', hasOtherWriters: false, asked: 0 },
  { owner: 'several processes', hasOtherWriters: true, asked: 1 },
])('rows of $owner', ({ hasOtherWriters, asked }) => {
  it(`are read once, with ${asked} questions, while nothing was removed since they were read before`, async () => {
    const { read } = await open({ hasOtherWriters });
    expect(await read()).toEqual({ reads: 1, statements: 2 });
    expect(await read()).toEqual({ reads: 1, statements: asked });
  });

  it('are read again where some were removed since the read before', async () => {
    const { database, read } = await open({ hasOtherWriters });
    await read();
    await withRemovalMarks(database, removeNothing);
    expect(await read()).toEqual({ reads: 2, statements: asked === 0 ? 2 : 3 });
    expect(await read()).toEqual({ reads: 1, statements: asked });
  });
});

it('a removal that begins while its number is read is noticed', async () => {
  const { database } = await openTables();
  let meanwhile = removeNothing;
  const readConsistently = createConsistentReads({
    ...database,
    select: async (...query) => {
      const rows = await database.select(...query);
      await meanwhile();
      return rows;
    },
  });
  const seen: (number | null)[] = [];
  const read = () => readConsistently(async (removal) => void seen.push(removal));
  await read();
  await withRemovalMarks(database, removeNothing);
  meanwhile = () => {
    meanwhile = removeNothing;
    return withRemovalMarks(database, removeNothing);
  };
  await read();
  await read();
  expect(seen).toEqual([null, 0, null, 2]);
});

it('a removal whose beginning is still being written is noticed once it is', async () => {
  const { database, read } = await open();
  await read();
  const writing = insertRows(database, removals, [{ number: 1, step: 'begun' }]);
  await read().catch(() => undefined);
  await writing;
  await expect(read()).rejects.toThrow(StorageUnavailable);
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

async function openRounds() {
  const { database, tables } = await openTables();
  const insert = (position: number) =>
    insertRows(
      database,
      rounds,
      [{ installationId: 'wheel', roundId: position, startMs: 0, workUnits: 0n, position }],
      tables.rounds,
    );
  for (const position of [1, 2, 3]) await insert(position);
  return { database, tables, insert };
}

async function readPositions(database: Database, table: string): Promise<number[]> {
  const rows = await database.select(`SELECT position FROM ${table} ORDER BY position`);
  return rows.map(([position]) => Number(position));
}

/** Another writer's insert, which arrives just after each deletion. */
function withLateInserts(
  database: Database,
  insert: (position: number) => Promise<void>,
  times: number,
): Database {
  let left = times;
  return {
    ...database,
    command: async (sql, parameters) => {
      await database.command(sql, parameters);
      if (sql.includes('DELETE') && left-- > 0) await insert(9);
    },
  };
}

describe('rows above a position', () => {
  it('are removed, those too that another writer inserts after the deletion began', async () => {
    const { database, tables, insert } = await openRounds();
    await deleteRowsAbove(withLateInserts(database, insert, 2), {
      tables,
      stream: 'MINER_COUNTER',
      position: 1,
    });
    expect(await readPositions(database, tables.rounds)).toEqual([1]);
  });

  it('are kept through the newest reading, which is written last', async () => {
    const { database, tables } = await openRounds();
    await storeRows(database, tables, { readings: [acceptedReading({ position: 2 })] });
    await deleteCutOffRows(database, tables, 1);
    expect(await readPositions(database, tables.rounds)).toEqual([1, 2]);
  });

  it('are removed in the reverse order of writing: after a kill no reading is without its round', async () => {
    const { database, tables } = await openRounds();
    await storeRows(database, tables, { readings: [acceptedReading({ position: 2 })] });
    let left = 1;
    const command: Database['command'] = async (sql, parameters) => {
      if (sql.includes('DELETE') && left-- === 0) throw new Error('killed here');
      await database.command(sql, parameters);
    };
    const removed = { tables, stream: 'MINER_COUNTER', position: 1 } as const;
    await expect(deleteRowsAbove({ ...database, command }, removed)).rejects.toThrow('killed here');
    const positions = [tables.readings, tables.rounds].map((table) => readPositions(database, table));
    expect(await Promise.all(positions)).toEqual([[], [1, 2, 3]]);
  });

  it('are removed behind the snapshots that say they are stored, and a kill in between is known', async () => {
    const { database, tables } = await openRounds();
    const killed = deleteRowsAbove(database, {
      tables,
      stream: 'MINER_COUNTER',
      position: 1,
      deleteSnapshots: async () => {
        throw new Error('killed here');
      },
    });
    await expect(killed).rejects.toThrow('killed here');
    expect(await database.select(`SELECT count() FROM ${tables.rounds}`)).toEqual([[3]]);
    expect(await hasOpenRemoval(database)).toBe(true);
    await withRemovalMarks(database, removeNothing);
    expect([await hasOpenRemoval(database), await removalNumber(database)]).toEqual([false, 2]);
  });

  it('that keep arriving end the attempt with an error instead of waiting for ever', async () => {
    const { database, tables, insert } = await openRounds();
    const busy = withLateInserts(database, insert, Number.POSITIVE_INFINITY);
    await expect(
      deleteRowsAbove(busy, { tables, stream: 'MINER_COUNTER', position: 1 }),
    ).rejects.toBeInstanceOf(StorageUnavailable);
  });
});
