import { expect, it } from 'vitest';
import { compareTable, countLaterRows } from '../../storage/rows/tableDifferences.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { rowTables } from '../../storage/tables/rowTables.ts';
import { genesisMs } from '../support/genesis.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';

/** A reading of one installation, stored and observed some time after the genesis. */
const readingAt = (position: number, afterMs: number) =>
  acceptedReading({
    installationId: 'one',
    position,
    observedAtMs: genesisMs + afterMs,
    receivedAtMs: genesisMs + afterMs + 2,
  });

it('a table differs from what a fold makes in the rows that count', async () => {
  const { database } = await openTables();
  const rowsOf = (numbers: readonly number[], speedMmPerSecond = 0) => ({
    readings: numbers.map((position) => ({ ...readingAt(position, position), speedMmPerSecond })),
  });
  await storeRows(database, rowsOf([1, 2, 3, 4, 5]), 'first stored');
  await storeRows(database, rowsOf([4]), 'stored');
  await storeRows(database, rowsOf([5], 7), 'stored');
  await storeRows(database, rowsOf([7, 9]), 'stored');
  await storeRows(database, rowsOf([2, 3, 4]), 'first folded');
  await storeRows(database, rowsOf([4, 5, 6, 9]), 'folded');
  const table = rowTables.find(({ definition }) => definition.name === 'stored_readings');
  if (table === undefined) throw new Error('no table of readings');
  const stored = [
    { run: 'first stored', through: 3 },
    { run: 'stored', through: openEnd },
  ];
  const folded = [
    { run: 'first folded', through: 3 },
    { run: 'folded', through: openEnd },
  ];
  const compare = (after: number, through: number) =>
    compareTable(database, table, { stored, folded, after, through, goneBeforeMs: null });
  // A changed row, one that no message makes, and one that was not stored.
  expect(await compare(1, 8)).toEqual({
    table: 'stored_readings',
    rows: 5,
    foreign: 2,
    missing: 2,
    firstMessage: 5,
  });
  expect(await compare(1, 4)).toMatchObject({ rows: 3, foreign: 0, missing: 0, firstMessage: null });
  expect(await compare(0, 4)).toMatchObject({ foreign: 1, missing: 0, firstMessage: 1 });
  expect(await countLaterRows(database, table, { stored, through: 4 })).toBe(3);
});
