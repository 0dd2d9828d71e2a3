import { describe, expect, it, vi } from 'vitest';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { type EvictedSource, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { awaitStored, createAwaitRows, limitSelects, pollMs } from '../../storage/reading/awaitRows.ts';
import { createObservationReader } from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { createStoredActivity } from '../../storage/reading/storedActivity.ts';
import { createStoredDays } from '../../storage/reading/storedDays.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
import { createRunsReader, type ReadRuns } from '../../storage/runs/runsReader.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const runs = [{ run: 'own', through: openEnd }];
const neverAborted = new AbortController().signal;

/** A writer whose progress a test changes. */
function startWaiting(signal = neverAborted) {
  const progress = { storedThrough: 3, isFailing: false };
  const flushNow = vi.fn();
  const writer = {
    flushNow,
    storedThrough: () => progress.storedThrough,
    isFailing: () => progress.isFailing,
  };
  const awaitRows = createAwaitRows({
    // The writer knows what it has stored.
    database: {} as Database,
    writer,
    readRuns: async () => runs,
    what: 'the older events',
  });
  return { progress, flushNow, ask: () => awaitRows({ position: 5, row: null }, signal) };
}

describe('rows that the writer of this process has not stored', () => {
  useVirtualTime();

  it('are awaited until it has stored them, and are flushed meanwhile', async () => {
    const { progress, flushNow, ask } = startWaiting();
    const asked = ask();
    await vi.advanceTimersByTimeAsync(0);
    expect(flushNow).toHaveBeenCalledOnce();
    for (const storedThrough of [4, 5]) {
      progress.storedThrough = storedThrough;
      await vi.advanceTimersByTimeAsync(pollMs);
    }
    expect(await asked).toBe(runs);
    flushNow.mockClear();
    expect(await ask()).toBe(runs);
    expect(flushNow).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are unavailable once ClickHouse refuses them, after 1.5 seconds, and after an abort', async () => {
    const failing = startWaiting();
    const refused = expect(failing.ask()).rejects.toThrow('rows are not stored at the moment');
    failing.progress.isFailing = true;
    await refused;

    const late = expect(startWaiting().ask()).rejects.toThrow('does not hold the older events');
    await vi.advanceTimersByTimeAsync(1_500);
    await late;

    const stopping = new AbortController();
    const aborted = startWaiting(stopping.signal);
    const refusedLater = [0, 1].map((turn) => {
      if (turn === 1) stopping.abort();
      return expect(aborted.ask()).rejects.toThrow('does not hold');
    });
    await vi.advanceTimersByTimeAsync(pollMs);
    await Promise.all(refusedLater);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are asked for by one question at a time, which may hang', async () => {
    const askedMs: number[] = [];
    const startMs = Date.now();
    const answers = [false, false, true];
    const isStored = async () => {
      askedMs.push(Date.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, 2 * pollMs));
      return answers.shift() ?? new Promise<boolean>(() => undefined);
    };
    const stored = awaitStored(isStored, 'rows', neverAborted);
    await vi.advanceTimersByTimeAsync(1_000);
    await stored;
    expect(askedMs).toEqual([0, 3, 6].map((polls) => polls * pollMs));
    answers.push(false);
    const late = expect(awaitStored(isStored, 'rows', neverAborted)).rejects.toThrow('does not hold rows');
    await vi.advanceTimersByTimeAsync(2_000);
    await late;
    expect([askedMs.length, vi.getTimerCount()]).toEqual([5, 0]);
  });
});

it('a row that was found is looked for again in another lineage', async () => {
  let counting = [{ run: 'a', through: openEnd }];
  const select = async (_: string, { run0 }: { readonly run0?: unknown } = {}) => (run0 === 'a' ? [[1]] : []);
  const awaitRows = createAwaitRows({
    database: { select } as unknown as Database,
    writer: null,
    readRuns: async () => counting,
    what: 'a row',
  });
  const row = { entry: {}, table: 'rows', condition: { sql: 'true', parameters: {} } };
  expect(await awaitRows({ position: 5, row }, neverAborted)).toBe(counting);
  counting = [{ run: 'b', through: openEnd }];
  await expect(awaitRows({ position: 5, row }, AbortSignal.abort())).rejects.toThrow(StoreUnavailable);
});

describe('pages while ClickHouse is frozen', () => {
  useVirtualTime();

  /** Whether each statement was cancelled. */
  const signals: (AbortSignal | undefined)[] = [];
  const frozen = {
    select: (_sql: string, _parameters: object, signal?: AbortSignal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  } as Partial<Database> as Database; // Nothing else of it is used.
  const database = limitSelects(frozen);
  const awaitFrozen = (readRuns: ReadRuns) =>
    createAwaitRows({ database, writer: null, readRuns, what: 'rows' });
  const awaitRows = awaitFrozen(async () => runs);

  async function isRefusedInTime(page: unknown): Promise<void> {
    const refused = expect(page).rejects.toThrow(StoreUnavailable);
    await vi.advanceTimersByTimeAsync(1_900);
    await refused;
  }

  it.each<[part: string, readRuns: ReadRuns]>([
    [
      'its lineage',
      createRunsReader({
        database,
        stream: 'MINER_COUNTER',
        identity: { foldVersion: 1, configuration: 'ours' },
        clock: { monotonicMs: () => 0 },
      }),
    ],
    ['its rows', async () => runs],
  ])(
    'have readings of memory, and are refused within two seconds, if it stops with %s',
    async (_, readRuns) => {
      const recent = createRecentReadings({ storedThrough: () => 9, retained: 2 });
      const readings = [1, 2, 3, 4].map((position) => acceptedReading({ position }));
      for (const reading of readings) recent.add(reading);
      const reader = createObservationReader({
        recent,
        database,
        awaitRows: awaitFrozen(readRuns),
      });
      signals.length = 0;
      expect(reader.page('wheel-1', 2, 9, neverAborted)).toEqual({ items: readings.slice(2), more: false });
      await isRefusedInTime(reader.page('wheel-1', 1, 9, neverAborted));
      expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    },
  );

  const evicted = { source: 'chain', evicted: { through: { position: 5, ordinal: 0 }, atPosition: 5 } };
  const of = evicted as EvictedSource; // Nothing else of it is used.
  const events = createStoredEvents({ database, awaitRows: { measurement: awaitRows, chain: awaitRows } });
  const activity = createStoredActivity({ database, writer: null, readRuns: async () => runs, awaitRows });
  const readDay = createStoredDays({ database, readRuns: async () => runs });
  const state = { position: 5, activityProgress: { rowsThroughBlock: 4n } } as ChainState; // Nothing else of it is used.

  it.each([
    [
      'a page of the feed',
      () => events.before(of, { keys: ['*'], place: null, fromMs: null, limit: 9 }, neverAborted),
    ],
    [
      'a part of the event stream',
      () => events.after(of, { categories: ['players'], place: null, limit: 9 }, neverAborted),
    ],
    [
      "an owner's activity",
      () => activity.read({ owner: '0x1', from: 0, end: 3, throughPosition: 5 }, neverAborted),
    ],
    ["a transaction's transfers", () => activity.ofTransaction('0x2', state, neverAborted)],
    ['a universal day', () => readDay('wheel-1', { startMs: 0, observed: 0 }, neverAborted)],
  ])('are refused within two seconds if they need %s', async (_, read) => {
    signals.length = 0;
    await isRefusedInTime(read());
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });
});
