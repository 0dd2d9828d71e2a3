import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { createKnownInstallations } from '../../storage/knownInstallations.ts';
import { createObservationReader, createStoredThroughQuery } from '../../storage/observations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const neverAborted = new AbortController().signal;

describe('observations of any age', () => {
  it('are read ten pages at once for a client that reads page after page', async () => {
    const { database, tables } = await openTables();
    const readings = Array.from({ length: 60 }, (_, at) => acceptedReading({ position: at + 1 }));
    await storeRows(database, tables, { readings });
    const recent = createRecentReadings({ storedThrough: () => 60, retained: 1 });
    for (const reading of readings) recent.add(reading);
    let statements = 0;
    const reader = createObservationReader({
      recent,
      database: {
        ...database,
        select: (sql, ...rest) => {
          if (sql.includes(`FROM ${tables.readings}`)) statements++;
          return database.select(sql, ...rest);
        },
      },
      tables: () => tables,
      isStoredThrough: () => true,
    });
    const counts: number[] = [];
    for (let after = 0; after < 50; after += 2) {
      const page = await reader.page('wheel-1', after, 2, neverAborted);
      expect(page).toEqual({ items: readings.slice(after, after + 2), more: true });
      counts.push(statements);
    }
    // The first read learns that nothing is being removed, and the second one that the client reads on.
    expect([counts[0], counts[1], counts[2], counts[11], counts[12], counts[21], counts[22]]).toEqual([
      1, 2, 3, 3, 4, 4, 5,
    ]);
  });

  it.each(['readings_g1', 'removals'])('are refused while the table %s is missing', async (table) => {
    const { database, tables } = await openTables();
    const readings = Array.from({ length: 20 }, (_, index) => acceptedReading({ position: index + 1 }));
    await storeRows(database, tables, { readings });
    const recent = createRecentReadings({ storedThrough: () => 20, retained: 1 });
    for (const reading of readings) recent.add(reading);
    const options = { recent, database, tables: () => tables, isStoredThrough: () => true };
    const reader = createObservationReader(options);
    await database.command(`RENAME TABLE ${table} TO away`);
    await expect(reader.page('wheel-1', 0, 5, neverAborted)).rejects.toBeInstanceOf(StorageUnavailable);
    await database.command(`RENAME TABLE away TO ${table}`);
    expect((await reader.page('wheel-1', 0, 5, neverAborted)).items).toEqual(readings.slice(0, 5));
  });

  it('are refused, not shortened, until the database has the reading that was evicted last', async () => {
    const { database, tables } = await openTables();
    const store = (rows: readonly CounterReading[]) => storeRows(database, tables, { readings: rows });
    const readings = Array.from({ length: 60 }, (_, index) => acceptedReading({ position: index + 1 }));
    const [{ installationId }] = readings as [CounterReading];
    const recent = createRecentReadings({ storedThrough: () => Number.MAX_SAFE_INTEGER, retained: 10 });
    for (const reading of readings) recent.add(reading);
    const { isStoredThrough, onReset } = createStoredThroughQuery(database, () => tables);
    const reader = createObservationReader({ recent, database, tables: () => tables, isStoredThrough });
    const refused = () =>
      expect(reader.page(installationId, 0, 10, neverAborted)).rejects.toBeInstanceOf(StorageUnavailable);
    await refused();
    await store(readings.slice(0, 49));
    await refused();
    // Rows of a stream that has lost its end since: above, and with another reading at that position.
    await store([acceptedReading({ position: 50, telemetryId: '5b0f6f0e-2d0f-4d1c-9a39-0d8a5f4f2c00' })]);
    await store([acceptedReading({ position: 70 })]);
    await refused();
    await database.command(`ALTER TABLE ${tables.readings} DELETE WHERE position > 49`);
    await store(readings.slice(49, 50));
    expect((await reader.page(installationId, 0, 10, neverAborted)).items).toHaveLength(10);
    // After a snapshot, everything below it was stored before it.
    onReset?.(40);
    recent.reset(40);
    expect((await reader.page(installationId, 39, 10, neverAborted)).items).toHaveLength(1);
  });

  it('have no gap on a replica while ingest folds removed readings again', async () => {
    const { database, tables } = await openTables();
    const readings = Array.from({ length: 100 }, (_, index) => acceptedReading({ position: index + 1 }));
    // A batch that was sent twice.
    for (let time = 0; time < 2; time++) await storeRows(database, tables, { readings });
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
        const { items } = await reader.page('wheel-1', 30, 20, neverAborted);
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
});

describe('observations of installations that nobody has', () => {
  it('are answered without ClickHouse, after it has listed its installations once', async () => {
    const { database: real, tables } = await openTables();
    // Rows from before an incomplete replay, whose messages the fold does not know.
    const rows = ['wheel-1', 'wheel-2'].map((installationId, index) =>
      acceptedReading({ position: index + 1, installationId }),
    );
    await storeRows(real, tables, { readings: rows });
    let statements = 0;
    const database: Database = {
      ...real,
      select: (...statement) => {
        statements++;
        return real.select(...statement);
      },
    };
    const folded = new Set<string>();
    let generation = tables;
    // After a restart: memory begins behind a snapshot.
    const recent = createRecentReadings({ storedThrough: () => 100 });
    recent.reset(100);
    const reader = createObservationReader({
      recent,
      database,
      tables: () => generation,
      isStoredThrough: () => true,
      mayHaveReadings: createKnownInstallations({
        database,
        tables: () => generation,
        isFolded: (installationId) => folded.has(installationId),
        max: 5,
      }),
    });
    const count = async (installationId: string) =>
      (await reader.page(installationId, 0, 10, new AbortController().signal)).items.length;

    const first = await Promise.all(['a', 'b', 'c'].map(count));
    expect([first, statements]).toEqual([[0, 0, 0], 1]);
    for (let made = 0; made < 1_000; made++)
      expect(reader.page(`made-up-${made}`, 0, 10, new AbortController().signal)).toEqual({
        items: [],
        more: false,
      });
    expect(statements).toBe(1);
    expect([await count('wheel-1'), await count('wheel-2')]).toEqual([1, 1]);

    // Once the fold knows an installation, ClickHouse is asked for it.
    folded.add('wheel-3');
    const before = statements;
    expect(await count('wheel-3')).toBe(0);
    expect(statements).toBeGreaterThan(before);

    // Other tables are listed again.
    await real.command(`CREATE TABLE other_readings AS ${tables.readings}`);
    generation = { ...tables, readings: 'other_readings' };
    folded.clear();
    expect(await count('wheel-1')).toBe(0);
  });

  it('are looked up if ClickHouse has more than the list holds, and the list is read again after a failure and for other tables', async () => {
    let isAway = true;
    const database = {
      select: async (sql: string) => {
        if (isAway) throw new Error('away');
        if (sql.includes('later')) return [['d']];
        await nextTurn();
        return [['a'], ['b'], ['c']];
      },
    } as unknown as Database; // Nothing else of it is used, and a failing statement is what a real one cannot show on demand.
    let table = 'readings';
    const tables = () => ({ readings: table }) as never;
    const few = createKnownInstallations({ database, tables, isFolded: () => false, max: 3 });
    await expect(few('a')).rejects.toThrow('away');
    isAway = false;
    expect([await few('a'), few('z')]).toEqual([true, false]);
    const switched = createKnownInstallations({ database, tables, isFolded: () => false, max: 3 });
    const late = switched('a');
    table = 'later';
    expect(await switched('d')).toBe(true);
    await late;
    expect(switched('d')).toBe(true);
    table = 'readings';
    const many = createKnownInstallations({ database, tables, isFolded: () => false, max: 2 });
    expect(await many('z')).toBe(true);
  });
});
