import { expect, it } from 'vitest';
import { beginEpoch, isNewestEpoch } from '../../storage/ingestEpochs.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { openTables } from '../support/storage/openTables.ts';

it('a process learns that another one has begun a later epoch, and that the database was emptied', async () => {
  const { database } = await openTables();
  const epoch = await beginEpoch(database, 'one', 0);
  const reasons: string[] = [];
  const isNewest = () =>
    isNewestEpoch({ database, epoch, onSuperseded: ({ message }) => reasons.push(message) });
  expect([await isNewest(), reasons]).toEqual([true, []]);
  await beginEpoch(database, 'another', 0);
  expect(await isNewest()).toBe(false);
  await database.command(`TRUNCATE TABLE ${ingestEpochs.name}`);
  expect(await isNewest()).toBe(false);
  expect(reasons).toEqual([
    expect.stringContaining('another process ingests into this database'),
    expect.stringContaining('the database was emptied or restored from a backup'),
  ]);
});
