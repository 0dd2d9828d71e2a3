import { describe, expect, it } from 'vitest';
import type { Database } from '../../storage/database.ts';
import { createKnownInstallations } from '../../storage/knownInstallations.ts';
import { createObservationReader } from '../../storage/observations.ts';
import { createRecentReadings } from '../../storage/recentReadings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

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

  it('are looked up if ClickHouse has more than the list holds, and the list is read again after a failure', async () => {
    let isAway = true;
    const database = {
      select: async () => {
        if (isAway) throw new Error('away');
        return [['a'], ['b'], ['c']];
      },
    } as unknown as Database; // Nothing else of it is used, and a failing statement is what a real one cannot show on demand.
    const tables = () => ({ readings: 'readings' }) as never;
    const few = createKnownInstallations({ database, tables, isFolded: () => false, max: 3 });
    await expect(few('a')).rejects.toThrow('away');
    isAway = false;
    expect([await few('a'), few('z')]).toEqual([true, false]);
    const many = createKnownInstallations({ database, tables, isFolded: () => false, max: 2 });
    expect(await many('z')).toBe(true);
  });
});
