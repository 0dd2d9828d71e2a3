import { expect, it, onTestFinished } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { openDatabase } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { migrate } from '../../storage/migrations.ts';
import { createObservationReader, createStoredThroughQuery } from '../../storage/observations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storeRows } from '../support/storage/storeRows.ts';

it('a replica shows no page with a gap while ingest folds again what it has removed', async () => {
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  const tables = await migrate(database, silentLogger);
  const readings = Array.from({ length: 100 }, (_, index) => acceptedReading({ position: index + 1 }));
  const store = (rows: readonly CounterReading[]) => storeRows(database, tables, { readings: rows });
  await store(readings);
  // A replica that follows the stream; the last ten messages were lost, and it has restored its state since.
  const recent = createRecentReadings({ storedThrough: () => Number.MAX_SAFE_INTEGER, retained: 10 });
  const stored = createStoredThroughQuery(database, () => tables);
  stored.onReset?.(20);
  recent.reset(20);
  for (const reading of readings.slice(20, 90)) recent.add(reading);
  const reader = createObservationReader({
    recent,
    database,
    tables: () => tables,
    isStoredThrough: stored.isStoredThrough,
  });
  const page = async () => {
    try {
      const { items } = await reader.page('wheel-1', 30, 20, new AbortController().signal);
      return items.map(({ position }) => position);
    } catch (error) {
      if (error instanceof StorageUnavailable) return 'unavailable';
      throw error;
    }
  };
  const expected = Array.from({ length: 20 }, (_, index) => 31 + index);
  expect(await page()).toEqual(expected);
  // Ingest starts later than the replica: the newest row is of a lost message, so it removes what is above its snapshot of 20.
  await deleteRowsAbove(database, { tables, stream: 'MINER_COUNTER', position: 20 });
  expect(['unavailable', expected]).toContainEqual(await page());
});
