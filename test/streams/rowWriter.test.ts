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
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storedRows } from '../support/storage/readingRows.ts';
import { someRows } from '../support/storage/someRows.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import { feedWriter } from '../support/streams/sinkFeed.ts';

async function writerOn(database: Database, run = () => 'run') {
  const clock = manualClock();
  const { writer } = await openWriter(database, { clock, run });
  onTestFinished(() => database.close());
  return { writer, feed: feedWriter(writer), clock };
}

async function countRows(database: Database) {
  const count = async ({ name }: Pick<Table<unknown>, 'name'>) => {
    const [row] = await database.select(`SELECT count(), max(position) FROM ${name} FINAL`);
    return row?.map(Number);
  };
  return [await count(readings), await count(rounds), await count(halfHourBuckets)];
}

/** A writer to an embedded database. A test may have something happen to its inserts, which `insert` passes on. */
async function intercepted(
  intercept: (insert: () => Promise<void>, table: string, blocks: unknown) => Promise<void>,
  run?: () => string,
) {
  const database = openDatabase({ path: temporaryDirectory() });
  let isOpen = false;
  const insertBlocks: Database['insertBlocks'] = (table, blocks) => {
    const insert = () => database.insertBlocks(table, blocks);
    return isOpen ? intercept(insert, table, blocks) : insert();
  };
  const opened = await writerOn({ ...database, insertBlocks }, run);
  // The migrations have ended.
  isOpen = true;
  return { database, ...opened };
}

/** Such a writer whose inserts the test accepts or refuses. */
async function switchable(run?: () => string) {
  const state = { isUnavailable: false, refused: [] as unknown[] };
  const opened = await intercepted(async (insert, _, blocks) => {
    if (!state.isUnavailable) return insert();
    state.refused.push(blocks);
    throw new StoreUnavailable('unavailable');
  }, run);
  return { state, ...opened };
}

describe('row writer', () => {
  it('reports a position once all rows through it are stored', async () => {
    const { writer, feed } = await writerOn(openDatabase({ path: temporaryDirectory() }));
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
    expect(writer.status()).toMatchObject({ bufferedBytes: 0 });
  });

  it('sends the identical batch again while the database is unavailable, and emits nothing meanwhile', async () => {
    const { database, state, writer, feed, clock } = await switchable();
    state.isUnavailable = true;
    for (let piece = 0; piece < 210; piece++) feed.add(storedRows(1 + piece * 500, 500));
    await eventually(() => writer.isFailing(), 'a failure');
    clock.advance(7_000);
    await eventually(() => state.refused.length >= 3, 'three attempts');
    expect(new Set(state.refused.map(String)).size).toBe(1);
    expect(writer.status()).toMatchObject({ failingForMs: 7_000, storingForMs: 7_000 });
    expect(writer.isFailing()).toBe(true);
    expect(feed.waiting).toBe(210);
    state.isUnavailable = false;
    await feed.flushed();
    expect(writer.status().failingForMs).toBeNull();
    expect((await countRows(database))[0]).toEqual([105_000, 105_000]);
  });

  it('reports how long it waits for an answer, which is no failure', async () => {
    let answer: (() => void) | null = null;
    const { writer, feed, clock } = await intercepted(async (insert) => {
      await insert();
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
    });
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
    let refusals = 2;
    const inserted: string[] = [];
    const { writer, feed } = await intercepted(async (insert, table) => {
      if (inserted.length === 1 && refusals-- > 0) throw new StoreUnavailable('unavailable');
      await insert();
      inserted.push(table);
    });
    feed.add(storedRows(1, 60));
    await feed.flushed();
    expect(writer.status().failures).toBe(2);
    expect(inserted).toEqual([rounds.name, halfHourBuckets.name, readings.name]);
  });

  it('forgets waiting rows when cancelled, and continues elsewhere', async () => {
    let run = 'first';
    const { database, state, writer, feed } = await switchable(() => run);
    feed.add(storedRows(1, 60));
    await feed.flushed();
    state.isUnavailable = true;
    feed.add(storedRows(61, 60));
    writer.flushNow();
    await eventually(() => state.refused.length > 0, 'an attempt');
    feed.cancel();
    await writer.whenIdle();
    const cancelled = { bufferedBytes: 0, failingForMs: null, storingForMs: null };
    expect([writer.isFailing(), writer.status()]).toMatchObject([false, cancelled]);
    state.isUnavailable = false;
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
    let answer: () => void = () => undefined;
    const { writer, feed } = await intercepted(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
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
