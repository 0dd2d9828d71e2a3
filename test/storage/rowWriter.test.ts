import { describe, expect, it, onTestFinished } from 'vitest';
import { noRows } from '../../actors/storedRows.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { deleteRowsAbove } from '../../storage/deleteRowsAbove.ts';
import { migrate } from '../../storage/migrations.ts';
import { createRowWriter, type RowWriter } from '../../storage/rowWriter.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { Tables } from '../../storage/tables.ts';
import { eventually } from '../support/childProcess.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/clickHouseServer.ts';
import { startCuttingProxy } from '../support/cuttingProxy.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storedRows } from '../support/storedRows.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

async function writerOn(database: Database): Promise<{ writer: RowWriter; tables: Tables }> {
  const tables = await migrate(database, silentLogger);
  const writer = createRowWriter({
    database,
    tables: () => tables,
    clock: manualClock(),
    logger: silentLogger,
  });
  onTestFinished(async () => {
    await writer.close();
    await database.close();
  });
  return { writer, tables };
}

const embedded = () => writerOn(openDatabase({ path: temporaryDirectory() }));

async function countsOf(database: Database, tables: Tables) {
  const count = async (table: string) => {
    const [row] = await database.select(`SELECT count(), max(position) FROM ${table} FINAL`);
    return row?.map(Number);
  };
  return [await count(tables.readings), await count(tables.rounds), await count(tables.halfHourBuckets)];
}

/** A database whose inserts the test lets through or refuses. */
function switchable(database: Database): Database & { isAway: boolean; refused: Buffer[] } {
  const state = { isAway: false, refused: [] as Buffer[] };
  return Object.assign(state, {
    ...database,
    insertBytes: async (...given: Parameters<Database['insertBytes']>) => {
      if (!state.isAway) return database.insertBytes(...given);
      state.refused.push(given[2]);
      throw new StorageUnavailable('away');
    },
  });
}

describe('row writer', () => {
  it('tells through which position rows are stored, only after they are', async () => {
    const { writer } = await embedded();
    writer.add(storedRows(1, 100));
    expect(writer.flushedThrough()).toBe(0);
    writer.add(storedRows(101, 20));
    expect(await writer.flushed()).toBe(true);
    expect(writer.flushedThrough()).toBe(120);
    expect(writer.status().bufferedRows).toBe(0);
  });

  it('counts a piece without rows as stored in its turn', async () => {
    const { writer } = await embedded();
    writer.add(storedRows(1, 3));
    writer.add({ ...noRows, throughPosition: 9 });
    await writer.flushed();
    expect(writer.flushedThrough()).toBe(9);
  });

  it('sends the identical batch again while the database is away, and asks its source to wait', async () => {
    const database = switchable(openDatabase({ path: temporaryDirectory() }));
    const { writer, tables } = await writerOn(database);
    database.isAway = true;
    for (let piece = 0; piece < 210; piece++) writer.add(storedRows(1 + piece * 500, 500));
    expect(writer.hasRoom()).toBe(false);
    let isRoom = false;
    void writer.room().then(() => {
      isRoom = true;
    });
    await eventually(() => database.refused.length >= 3, 'three attempts');
    expect(new Set(database.refused.map(String)).size).toBe(1);
    expect(writer.status().failingForMs).not.toBeNull();
    expect(writer.status().state).toBe('retrying');
    expect(isRoom).toBe(false);
    database.isAway = false;
    expect(await writer.flushed()).toBe(true);
    expect(isRoom).toBe(true);
    expect(writer.status().failingForMs).toBeNull();
    expect((await countsOf(database, tables))[0]).toEqual([105_000, 105_000]);
  });

  it('forgets what waits when it is rewound, and goes on behind that position', async () => {
    const database = switchable(openDatabase({ path: temporaryDirectory() }));
    const { writer, tables } = await writerOn(database);
    writer.add(storedRows(1, 60));
    await writer.flushed();
    database.isAway = true;
    writer.add(storedRows(61, 60));
    const flushed = writer.flushed();
    await eventually(() => database.refused.length > 0, 'an attempt');
    await writer.rewind(30);
    expect(await flushed).toBe(false);
    expect(writer.flushedThrough()).toBe(30);
    database.isAway = false;
    expect(await deleteRowsAbove(database, tables, 30)).toBe(32);
    writer.add(storedRows(31, 10));
    await writer.flushed();
    expect((await countsOf(database, tables))[0]).toEqual([40, 40]);
  });

  it('leaves what waits unwritten when it is closed, and says so', async () => {
    const database = switchable(openDatabase({ path: temporaryDirectory() }));
    const { writer } = await writerOn(database);
    database.isAway = true;
    writer.add(storedRows(1, 10));
    const flushed = writer.flushed();
    await eventually(() => database.refused.length > 0, 'an attempt');
    await writer.close();
    expect(await flushed).toBe(false);
  });

  it('splits rows of more than a hundred partitions, which one insert may not hold', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    const { writer, tables } = await writerOn(database);
    const { readings } = storedRows(1, 240);
    const scattered = readings.map((reading, index) => ({
      ...reading,
      observedAtMs: Date.UTC(1990, index, 1),
    }));
    writer.add({ ...noRows, readings: scattered, throughPosition: 240 });
    await writer.flushed();
    expect((await countsOf(database, tables))[0]).toEqual([240, 240]);
  });
});

describe.skipIf(!clickHouseServerAvailable())(
  'row writer on clickhouse-server (skipped where it is not installed)',
  () => {
    it('loses and doubles nothing when the server is killed while rows are written', async () => {
      const server = await startClickHouseServer();
      const database = openDatabase({ url: server.url });
      const { writer, tables } = await writerOn(database);
      let position = 1;
      const add = (pieces: number) => {
        for (let piece = 0; piece < pieces; piece++, position += 100) writer.add(storedRows(position, 100));
      };
      for (let kill = 0; kill < 3; kill++) {
        add(300);
        await eventually(() => writer.status().bufferedRows < 25_000, 'writing under way');
        await server.kill('SIGKILL');
        add(50);
        await server.start();
      }
      expect(await writer.flushed()).toBe(true);
      expect(writer.status().failures).toBeGreaterThan(0);
      const rows = 3 * 350 * 100;
      const closings = rows / 60;
      expect(await countsOf(database, tables)).toEqual([
        [rows, rows],
        [closings, rows],
        [closings, rows],
      ]);
      const [exact] = await database.select(
        `SELECT cumulative_work_units FROM ${tables.readings} FINAL WHERE position = 777`,
      );
      expect(exact).toEqual([(2n ** 200n + 777n).toString()]);
    });

    it('sends again what the server stored without the answer getting through, and doubles nothing', async () => {
      const server = await startClickHouseServer();
      const proxy = await startCuttingProxy(server.url);
      const database = openDatabase({ url: proxy.url });
      const { writer, tables } = await writerOn(database);
      proxy.cutAnswers(4);
      writer.add(storedRows(1, 6_000));
      expect(await writer.flushed()).toBe(true);
      expect(proxy.cuts).toBe(4);
      expect(writer.status().failures).toBeGreaterThan(0);
      expect(await countsOf(database, tables)).toEqual([
        [6_000, 6_000],
        [100, 6_000],
        [100, 6_000],
      ]);
    });
  },
);
