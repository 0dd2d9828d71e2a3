import type { Logger } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { StoreUnavailable } from '../../actors/pages/olderRows.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import type { Table } from '../../storage/definition/table.ts';
import { measurementEvents } from '../../storage/tables/events.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { createRowWriter } from '../../streams/pipeline/rowWriter.ts';
import { manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storedRows } from '../support/storage/readingRows.ts';
import { someRows } from '../support/storage/someRows.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';

async function writerOn(database: Database, logger: Logger = silentLogger, run = () => 'run') {
  const clock = manualClock();
  const { writer } = await openWriter(database, { clock, logger, run });
  onTestFinished(() => database.close());
  return { writer, feed: feedWriter(writer), clock };
}

const embedded = () => writerOn(openDatabase({ path: temporaryDirectory() }));

async function countRows(database: Database) {
  const count = async ({ name }: Pick<Table<unknown>, 'name'>) => {
    const [row] = await database.select(`SELECT count(), max(position) FROM ${name} FINAL`);
    return row?.map(Number);
  };
  return [await count(readings), await count(rounds), await count(halfHourBuckets)];
}

/** A database whose inserts the test accepts or refuses. */
function createSwitchableDatabase(
  database: Database,
): Database & { isUnavailable: boolean; refused: unknown[] } {
  const state = { isUnavailable: false, refused: [] as unknown[] };
  return Object.assign(state, {
    ...database,
    insertBlocks: async (...insert: Parameters<Database['insertBlocks']>) => {
      if (!state.isUnavailable) return database.insertBlocks(...insert);
      state.refused.push(insert[1]);
      throw new StoreUnavailable('unavailable');
    },
  });
}

describe('row writer', () => {
  it('reports a position once all rows through it are stored', async () => {
    const { writer, feed } = await embedded();
    feed.add(storedRows(1, 100));
    expect(writer.storedThrough()).toBe(0);
    feed.add(storedRows(101, 20));
    await feed.flushed();
    expect(writer.storedThrough()).toBe(120);
    feed.add(storedRows(121, 3));
    feed.add({ ...noRows, throughPosition: 129 });
    expect(writer.storedThrough()).toBe(120);
    await feed.flushed();
    expect(writer.storedThrough()).toBe(129);
    expect(writer.status()).toMatchObject({ bufferedRows: 0, bufferedBytes: 0, state: 'idle' });
  });

  it('sends the identical batch again while the database is unavailable, and emits nothing meanwhile', async () => {
    const database = createSwitchableDatabase(openDatabase({ path: temporaryDirectory() }));
    const { writer, feed, clock } = await writerOn(database);
    database.isUnavailable = true;
    for (let piece = 0; piece < 210; piece++) feed.add(storedRows(1 + piece * 500, 500));
    await eventually(() => writer.isFailing(), 'a failure');
    clock.advance(7_000);
    await eventually(() => database.refused.length >= 3, 'three attempts');
    expect(new Set(database.refused.map(String)).size).toBe(1);
    expect(writer.status()).toMatchObject({ state: 'retrying', failingForMs: 7_000, storingForMs: 7_000 });
    expect(writer.isFailing()).toBe(true);
    expect(feed.waiting).toBe(210);
    database.isUnavailable = false;
    await feed.flushed();
    expect(writer.status().failingForMs).toBeNull();
    expect((await countRows(database))[0]).toEqual([105_000, 105_000]);
  });

  it('reports how long it waits for an answer, which is no failure', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    let answer: (() => void) | null = null;
    let isSilent = false;
    const { writer, feed, clock } = await writerOn({
      ...database,
      insertBlocks: async (...insert) => {
        await database.insertBlocks(...insert);
        if (isSilent)
          await new Promise<void>((resolve) => {
            answer = resolve;
          });
      },
    });
    isSilent = true;
    expect(writer.status().storingForMs).toBeNull();
    feed.add(storedRows(1, 2));
    writer.flushNow();
    await eventually(() => writer.status().storingForMs !== null, 'an attempt');
    clock.advance(3_000);
    expect(writer.status().storingForMs).toBe(3_000);
    expect(writer.status().failingForMs).toBeNull();
    await eventually(() => {
      answer?.();
      return writer.storedThrough() === 2;
    }, 'the answers');
    expect(writer.status().storingForMs).toBeNull();
  });

  it('repeats the refused inserts of a batch, but not the acknowledged ones', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    let refusals = 0;
    const inserted: string[] = [];
    const { writer, feed } = await writerOn({
      ...database,
      insertBlocks: async (table, blocks) => {
        if (inserted.length === 1 && refusals-- > 0) throw new StoreUnavailable('unavailable');
        await database.insertBlocks(table, blocks);
        inserted.push(table);
      },
    });
    inserted.length = 0; // Without the notes of the migrations.
    refusals = 2;
    feed.add(storedRows(1, 60));
    await feed.flushed();
    expect(writer.status().failures).toBe(2);
    expect(inserted).toEqual([rounds.name, halfHourBuckets.name, readings.name]);
  });

  it('forgets waiting rows when cancelled, and continues elsewhere', async () => {
    const database = createSwitchableDatabase(openDatabase({ path: temporaryDirectory() }));
    let run = 'first';
    const { writer, feed } = await writerOn(database, silentLogger, () => run);
    feed.add(storedRows(1, 60));
    await feed.flushed();
    database.isUnavailable = true;
    feed.add(storedRows(61, 60));
    writer.flushNow();
    await eventually(() => database.refused.length > 0, 'an attempt');
    feed.cancel();
    await writer.whenIdle();
    const cancelled = { bufferedRows: 0, bufferedBytes: 0, failingForMs: null, storingForMs: null };
    expect([writer.isFailing(), writer.status()]).toMatchObject([false, cancelled]);
    database.isUnavailable = false;
    run = 'second';
    const resumed = feedWriter(writer, 30);
    expect(writer.storedThrough()).toBe(30);
    resumed.add(storedRows(31, 10));
    await resumed.flushed();
    const rows = await database.select(
      `SELECT run, min(position), max(position) FROM ${readings.name} GROUP BY run ORDER BY run`,
    );
    expect(rows.map((row) => row.map(String))).toEqual([
      ['first', '1', '60'],
      ['second', '31', '40'],
    ]);
  });

  it('is idle once the insert of a cancelled pipeline has ended', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    let answer: () => void = () => undefined;
    let isBlocked = false;
    const { writer, feed } = await writerOn({
      ...database,
      insertBlocks: (...insert) => {
        if (!isBlocked) return database.insertBlocks(...insert);
        return new Promise((resolve) => {
          answer = resolve;
        });
      },
    });
    isBlocked = true;
    feed.add(storedRows(1, 60));
    writer.flushNow();
    feed.cancel();
    let isSettled = false;
    const settled = writer.whenIdle().then(() => {
      isSettled = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    answer();
    await settled;
  });
});

it('rows wait for others as long as the memory of every process has them', async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const inserted: string[] = [];
  const database: Partial<Database> = {
    insertBlocks: async (table) => {
      inserted.push(table);
    },
  };
  const feed = (stream: InputStreamName) =>
    feedWriter(
      createRowWriter({
        stream,
        database: database as Database, // Nothing else of it is used.
        run: () => 'run',
        clock: manualClock(),
        logger: silentLogger,
      }),
    );
  const insertedAfter = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return inserted.splice(0);
  };
  const counter = feed('MINER_COUNTER');
  counter.add(storedRows(1, 2));
  expect(await insertedAfter(9_999)).toEqual([]);
  expect(await insertedAfter(1)).toEqual([readings.name]);
  counter.add(storedRows(3, 2));
  counter.add({ ...noRows, measurementEvents: [someRows.event], throughPosition: 5 });
  const { keys, events } = measurementEvents;
  expect(await insertedAfter(0)).toEqual([keys.name, events.name, readings.name]);
  // An owner's activity leaves memory with every final block.
  feed('MINER_CHAIN').add({ ...noRows, ownerActivity: [someRows.claim], throughPosition: 5 });
  expect(await insertedAfter(1_000)).toEqual([ownerActivity.name]);
});

const engine = useClickHouseEngine();

it('row writer on a server repeats an unanswered insert without duplicates', async () => {
  const proxy = await startCuttingProxy(await engine.createDatabase());
  const database = openDatabase({ url: proxy.url });
  const { writer, feed } = await writerOn(database);
  proxy.cutAnswers(4);
  feed.add(storedRows(1, 6_000));
  await feed.flushed();
  expect(proxy.cuts).toBe(4);
  expect(writer.status().failures).toBeGreaterThan(0);
  expect(await countRows(database)).toEqual([
    [6_000, 6_000],
    [100, 6_000],
    [100, 6_000],
  ]);
});
