import { expect, it } from 'vitest';
import {
  beginEpoch,
  fenceDatabase,
  isNewestEpoch,
  readDatabaseIdentity,
} from '../../storage/runs/epochFence.ts';
import { noteLineage } from '../../storage/runs/lineages.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { openForTest, openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

it('a process writes only with the lease and the newest epoch', async () => {
  const { database } = await openTables();
  let isHeld = true;
  const lease = { isHeld: () => isHeld };
  const begin = (holder: string, leaseSequence = 1) =>
    beginEpoch(database, { lease, leaseSequence, holder, nowMs: 0 });
  const epoch = await begin('one');
  const reasons: string[] = [];
  const onSuperseded = ({ message }: Error) => void reasons.push(message);
  const options = { database, epoch, holder: 'one', onSuperseded };
  const fenced = fenceDatabase({ ...options, lease });
  const write = async () => {
    const writing = [noteLineage(fenced, someLineage, 0), fenced.command('SELECT 1')];
    return (await Promise.allSettled(writing)).map(({ status }) => status);
  };
  expect([await write(), reasons]).toEqual([['fulfilled', 'fulfilled'], []]);
  isHeld = false;
  expect(await write()).toEqual(['rejected', 'rejected']);
  isHeld = true;
  await begin('another');
  // A late row equals the row of the other process, but what is removed late is gone.
  expect(await write()).toEqual(['fulfilled', 'rejected']);
  await database.command(`TRUNCATE TABLE ${ingestEpochs.name}`);
  expect(await isNewestEpoch(options)).toBe(false);
  expect(reasons).toEqual([
    expect.stringContaining('another process ingests into this database'),
    expect.stringContaining('the database was emptied or restored from a backup'),
  ]);
});

it('two processes never write in the same epoch', async () => {
  const { database } = await openTables();
  const begin = (holder: string, leaseSequence: number, isHeld = () => true) =>
    beginEpoch(database, { lease: { isHeld }, leaseSequence, holder, nowMs: 0 });
  expect(await begin('one', 7)).toBe(7);
  // NATS has lost its data since, so that its sequences begin again.
  expect(await begin('two', 1)).toBe(8);
  // Both hold a lease, of different servers, and have read the same newest epoch.
  await Promise.allSettled([begin('three', 20), begin('four', 20)]);
  const reasons: string[] = [];
  const onSuperseded = ({ message }: Error) => void reasons.push(message);
  const isNewest = (holder: string) => isNewestEpoch({ database, epoch: 20, holder, onSuperseded });
  expect([await isNewest('three'), await isNewest('four')]).toEqual([true, false]);
  expect(reasons).toEqual([expect.stringContaining('another process ingests')]);
  // One is paused before it has read its epoch back, and loses the lease meanwhile.
  const held = [true, false];
  await expect(begin('five', 30, () => held.shift() ?? false)).rejects.toThrow('lease is not held');
  expect(await begin('six', 31)).toBe(31);
});

it('a new database has one identity, although many processes start with it', async () => {
  const database = openForTest();
  const names = await Promise.all(Array.from({ length: 12 }, () => readDatabaseIdentity(database)));
  expect(new Set(names).size).toBe(1);
  expect(await readDatabaseIdentity(database)).toBe(names[0]);
});
