import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordsUnavailable } from '../../actors/pages/olderRows.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createKnownInstallations } from '../../storage/reading/knownInstallations.ts';
import {
  createObservationReader,
  createStoredThroughQuery,
  oldestStoredReading,
  readStored,
} from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { cutRuns, openEnd, type VisibleRuns } from '../../storage/runs/lineages.ts';
import { readings as readingTable } from '../../storage/tables/readings.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const neverAborted = new AbortController().signal;
const oneRun: VisibleRuns = [{ run: 'run', through: openEnd }];
const everPosition = Number.MAX_SAFE_INTEGER;

const buildReadings = (from: number, through: number, of: Partial<CounterReading> = {}) =>
  Array.from({ length: through - from + 1 }, (_, at) => acceptedReading({ position: from + at, ...of }));

/** Readings of a stream that has lost messages since: another reading at each position. */
const lostReadings = (from: number, through: number) =>
  buildReadings(from, through).map((reading) => ({
    ...reading,
    telemetryId: reading.telemetryId.replace('aaaaaaaa', 'ffffffff'),
  }));

/** Memory that holds the newest readings. */
function recentOf(readings: readonly CounterReading[], retained: number) {
  const recent = createRecentReadings({ storedThrough: () => everPosition, retained });
  for (const reading of readings) recent.add(reading);
  return recent;
}

/** Counts the statements that read readings. */
function countReads(database: Database) {
  const counted = { reads: 0 };
  const select: Database['select'] = (sql, ...rest) => {
    if (sql.includes(`FROM ${readingTable.name}`)) counted.reads++;
    return database.select(sql, ...rest);
  };
  return { counted, database: { ...database, select } };
}

/** A history that a test changes, and how often it was asked for and read again. */
function historyOf(first: VisibleRuns) {
  const history = {
    runs: first,
    /** What a reader relies on until it reads again. */
    known: first,
    again: 0,
    readRuns: async (again = false) => {
      if (again) {
        history.again++;
        history.known = history.runs;
      }
      return history.known;
    },
  };
  return history;
}

describe('observations of any age', () => {
  it('are read ten pages at once for a client that reads page after page', async () => {
    const { database: real } = await openTables();
    const readings = buildReadings(1, 60);
    await storeRows(real, { readings });
    const { counted, database } = countReads(real);
    const reader = createObservationReader({
      recent: recentOf(readings, 1),
      database,
      readRuns: async () => oneRun,
      isStoredThrough: () => true,
    });
    const counts: number[] = [];
    for (let after = 0; after < 50; after += 2) {
      const page = await reader.page('wheel-1', after, 2, neverAborted);
      expect(page).toEqual({ items: readings.slice(after, after + 2), more: true });
      counts.push(counted.reads);
    }
    // The second read learns that the client reads on.
    expect([counts[0], counts[1], counts[10], counts[11], counts[20], counts[21]]).toEqual([
      1, 2, 2, 3, 3, 4,
    ]);
  });

  it('are refused while the table of readings is missing', async () => {
    const { database } = await openTables();
    const readings = buildReadings(1, 20);
    await storeRows(database, { readings });
    const options = { recent: recentOf(readings, 1), database, isStoredThrough: () => true };
    const reader = createObservationReader({ ...options, readRuns: async () => oneRun });
    await database.command(`RENAME TABLE ${readingTable.name} TO away`);
    await expect(reader.page('wheel-1', 0, 5, neverAborted)).rejects.toBeInstanceOf(RecordsUnavailable);
    await database.command(`RENAME TABLE away TO ${readingTable.name}`);
    expect((await reader.page('wheel-1', 0, 5, neverAborted)).items).toEqual(readings.slice(0, 5));
  });

  it('are read once and in order over the border of runs', async () => {
    const { database } = await openTables();
    const begins = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(begins, fc.nat(5), fc.integer({ min: 1, max: 12 }), async (unsorted, lost, limit) => {
        await database.command(`TRUNCATE TABLE ${readingTable.name}`);
        let runs: VisibleRuns = [];
        const positions = [0, ...unsorted.sort((a, b) => a - b)];
        for (const [at, position] of positions.entries()) {
          const run = `run ${at}`;
          runs = [...cutRuns(runs, position), { run, through: openEnd }];
          const end = positions[at + 1] ?? 50;
          await storeRows(database, { readings: buildReadings(position + 1, end) }, run);
          // What it has stored above the state that the next process restored, and a batch that was sent twice.
          await storeRows(database, { readings: lostReadings(end + 1, end + lost) }, run);
          if (at === 1) await storeRows(database, { readings: buildReadings(position + 1, end) }, run);
        }
        // Runs that the history does not name: of a replay under way, and of a process that was killed.
        await storeRows(database, { readings: lostReadings(1, 50) }, 'replay');
        const expected = buildReadings(1, 50);
        const reader = createObservationReader({
          recent: recentOf(expected, 3),
          database,
          readRuns: async () => runs,
          isStoredThrough: () => true,
        });
        const read: CounterReading[] = [];
        for (let isMore = true; isMore; ) {
          const page = await reader.page('wheel-1', read.at(-1)?.position ?? 0, limit, neverAborted);
          read.push(...page.items);
          isMore = page.more;
          if (isMore) expect(page.items).toHaveLength(limit);
        }
        expect(read).toEqual(expected);
        const stored: CounterReading[] = [];
        const after = limit;
        for await (const some of readStored(database, { runs, after, through: 47, oldestMs: null }))
          stored.push(...some);
        expect(stored).toEqual(expected.slice(after, 47));
        expect(await oldestStoredReading(database, runs, null)).toEqual({
          position: 1,
          receivedAtMs: expected[0]?.receivedAtMs,
        });
      }),
      {
        numRuns: 8,
        examples: [
          [[20], 5, 10],
          [[], 0, 5],
        ],
      },
    );
    expect(await oldestStoredReading(database, [], null)).toBeNull();
  });

  it('are of the newer history once that is known', async () => {
    const { database: real } = await openTables();
    const before = [...buildReadings(1, 20), ...lostReadings(21, 60)];
    await storeRows(real, { readings: before }, 'first');
    const { counted, database } = countReads(real);
    const history = historyOf([{ run: 'first', through: openEnd }]);
    const recent = recentOf([], 1);
    recent.reset(60);
    const reader = createObservationReader({
      recent,
      database,
      readRuns: history.readRuns,
      isStoredThrough: () => true,
    });
    const page = async (after: number) => (await reader.page('wheel-1', after, 4, neverAborted)).items;
    expect(await page(0)).toEqual(before.slice(0, 4));
    // This one reads ahead.
    expect(await page(4)).toEqual(before.slice(4, 8));
    const reads = counted.reads;
    // Ingest has lost the messages above 20, and has others now.
    const after = buildReadings(1, 60);
    await storeRows(real, { readings: after.slice(20) }, 'second');
    expect(await page(8)).toEqual(before.slice(8, 12));
    expect(counted.reads).toBe(reads);
    history.known = [
      { run: 'first', through: 20 },
      { run: 'second', through: openEnd },
    ];
    const read: CounterReading[] = [];
    for (let position = 12; position < 52; position += 4) read.push(...(await page(position)));
    expect(read).toEqual(after.slice(12, 52));
  });

  it('share one history in one page, although another one is noted meanwhile', async () => {
    const { database: real } = await openTables();
    const runs = [
      { run: 'first', through: 10 },
      { run: 'second', through: openEnd },
    ];
    await storeRows(real, { readings: buildReadings(1, 10) }, 'first');
    await storeRows(real, { readings: buildReadings(11, 30) }, 'second');
    await storeRows(real, { readings: lostReadings(6, 30) }, 'third');
    const history = historyOf(runs);
    const select: Database['select'] = async (...query) => {
      const found = await real.select(...query);
      history.known = [
        { run: 'first', through: 5 },
        { run: 'third', through: openEnd },
      ];
      return found;
    };
    const recent = recentOf([], 1);
    recent.reset(30);
    const reader = createObservationReader({
      recent,
      database: { ...real, select },
      readRuns: history.readRuns,
      isStoredThrough: () => true,
    });
    const page = async () => (await reader.page('wheel-1', 0, 20, neverAborted)).items;
    expect(await page()).toEqual(buildReadings(1, 20));
    expect(await page()).toEqual([...buildReadings(1, 5), ...lostReadings(6, 20)]);
  });

  it('are refused, not shortened, until the database has the reading that was evicted last', async () => {
    const { database } = await openTables();
    const store = (rows: readonly CounterReading[], run = 'run') =>
      storeRows(database, { readings: rows }, run);
    const readings = buildReadings(1, 60);
    const recent = recentOf(readings, 10);
    const history = historyOf(oneRun);
    const { isStoredThrough, onReset } = createStoredThroughQuery(database);
    const reader = createObservationReader({ recent, database, readRuns: history.readRuns, isStoredThrough });
    const page = async (after: number) => (await reader.page('wheel-1', after, 10, neverAborted)).items;
    const refused = () => expect(page(0)).rejects.toBeInstanceOf(RecordsUnavailable);
    await refused();
    await store(readings.slice(0, 49));
    await refused();
    // Rows of a stream that has lost its end since, and of a run that does not count.
    await store(lostReadings(50, 50));
    await store([acceptedReading({ position: 70 })]);
    await store(readings, 'other');
    await refused();
    history.runs = [
      { run: 'run', through: 49 },
      { run: 'next', through: openEnd },
    ];
    await refused();
    await store(readings.slice(49, 50), 'next');
    expect(await page(0)).toEqual(readings.slice(0, 10));
    expect(await page(45)).toEqual(readings.slice(45, 55));
    // After a snapshot, everything below it was stored before it.
    onReset?.(40);
    recent.reset(40);
    expect(await page(39)).toHaveLength(1);
  });

  it('are read by a replica in the newer history', async () => {
    const { database } = await openTables();
    const readings = buildReadings(1, 60);
    await storeRows(database, { readings: readings.slice(0, 20) }, 'first');
    await storeRows(database, { readings: readings.slice(20) }, 'second');
    const history = historyOf([{ run: 'first', through: openEnd }]);
    const next = [
      { run: 'first', through: 20 },
      { run: 'second', through: openEnd },
    ];
    history.runs = next;
    const { isStoredThrough } = createStoredThroughQuery(database);
    const reader = createObservationReader({
      recent: recentOf(readings, 10),
      database,
      readRuns: history.readRuns,
      isStoredThrough,
    });
    const page = async () => (await reader.page('wheel-1', 15, 10, neverAborted)).items;
    expect(await page()).toEqual(readings.slice(15, 25));
    expect(history.again).toBe(1);
    expect(await page()).toEqual(readings.slice(15, 25));
    expect(history.again).toBe(1);
    // What was found in one history says nothing about another one.
    const evicted = { position: 50, evicted: readings[49] ?? null };
    const found = [await isStoredThrough(evicted, next)];
    for (const runs of [oneRun, [{ run: 'first', through: openEnd }], []])
      found.push(await isStoredThrough(evicted, runs));
    found.push(await isStoredThrough(evicted, next));
    expect(found).toEqual([true, false, false, false, true]);
  });

  it('have no gap on a replica while ingest folds the end again', async () => {
    const { database } = await openTables();
    const readings = buildReadings(1, 90);
    await storeRows(database, { readings: [...readings, ...lostReadings(91, 100)] }, 'first');
    const history = historyOf([{ run: 'first', through: openEnd }]);
    // A replica that follows the stream; the last ten messages were lost, and it has restored its state since.
    const recent = createRecentReadings({ storedThrough: () => everPosition, retained: 10 });
    const stored = createStoredThroughQuery(database);
    stored.onReset?.(20);
    recent.reset(20);
    for (const reading of readings.slice(20)) recent.add(reading);
    const reader = createObservationReader({
      recent,
      database,
      readRuns: history.readRuns,
      isStoredThrough: stored.isStoredThrough,
    });
    const page = async () => {
      try {
        return (await reader.page('wheel-1', 30, 20, neverAborted)).items;
      } catch (error) {
        if (error instanceof RecordsUnavailable) return 'unavailable';
        throw error;
      }
    };
    const expected = readings.slice(30, 50);
    expect(await page()).toEqual(expected);
    // Ingest starts later than the replica, and has noted at once that the stream has lost messages.
    history.runs = [
      { run: 'first', through: 20 },
      { run: 'second', through: openEnd },
    ];
    for (const known of [history.known, history.runs]) {
      history.known = known;
      for (let position = 21; position <= 90; position += 23) {
        expect(['unavailable', expected]).toContainEqual(await page());
        const some = readings.slice(position - 1, position + 22);
        await storeRows(database, { readings: some }, 'second');
      }
    }
    expect(await page()).toEqual(expected);
  });
});

describe('observations of installations that nobody has', () => {
  it('are answered without ClickHouse, after it has listed its installations once', async () => {
    const { database: real } = await openTables();
    // Rows of messages that the fold does not know.
    const rows = ['wheel-1', 'wheel-2'].map((installationId, index) =>
      acceptedReading({ position: index + 1, installationId }),
    );
    await storeRows(real, { readings: rows });
    let statements = 0;
    const database: Database = {
      ...real,
      select: (...statement) => {
        statements++;
        return real.select(...statement);
      },
    };
    const folded = new Set<string>();
    // After a restart: memory begins behind a snapshot.
    const recent = createRecentReadings({ storedThrough: () => 100 });
    recent.reset(100);
    const reader = createObservationReader({
      recent,
      database,
      readRuns: async () => oneRun,
      isStoredThrough: () => true,
      mayHaveReadings: createKnownInstallations({
        database,
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
  });

  it('are looked up beyond the list, which is read again after a failure', async () => {
    let isAway = true;
    const database = {
      select: async () => {
        if (isAway) throw new Error('away');
        await nextTurn();
        return [['a'], ['b'], ['c']];
      },
    } as unknown as Database; // Nothing else of it is used, and a failing statement is what a real one cannot show on demand.
    const few = createKnownInstallations({ database, isFolded: () => false, max: 3 });
    await expect(few('a')).rejects.toThrow('away');
    isAway = false;
    expect([await few('a'), few('z')]).toEqual([true, false]);
    const many = createKnownInstallations({ database, isFolded: () => false, max: 2 });
    expect(await many('z')).toBe(true);
  });
});
