import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RecordsUnavailable } from '../../actors/pages/olderRows.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createAwaitRows, pollMs } from '../../storage/reading/awaitRows.ts';
import { createObservationReader } from '../../storage/reading/observations.ts';
import { createRecentReadings } from '../../storage/reading/recentReadings.ts';
import { openEnd } from '../../storage/runs/lineages.ts';
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
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are awaited until it has stored them, and are flushed meanwhile', async () => {
    const { progress, flushNow, ask } = startWaiting();
    const asked = ask();
    await vi.advanceTimersByTimeAsync(0);
    expect(flushNow).toHaveBeenCalledOnce();
    for (const storedThrough of [4, 6]) {
      progress.storedThrough = storedThrough;
      await vi.advanceTimersByTimeAsync(pollMs);
    }
    expect(await asked).toBe(runs);
    flushNow.mockClear();
    expect(await ask()).toBe(runs);
    expect(flushNow).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('are unavailable once ClickHouse refuses them, after three seconds, and after an abort', async () => {
    const failing = startWaiting();
    const refused = expect(failing.ask()).rejects.toThrow('rows are not stored at the moment');
    failing.progress.isFailing = true;
    await refused;

    const late = expect(startWaiting().ask()).rejects.toThrow('does not hold the older events');
    await vi.advanceTimersByTimeAsync(3_000);
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
});

describe('pages of readings while ClickHouse is frozen', () => {
  it.each([
    ['its lineage', null],
    ['its rows', runs],
  ])('are refused within two seconds, and shown from memory, if it stops with %s', async (_, lineage) => {
    vi.useFakeTimers();
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const signals: (AbortSignal | undefined)[] = [];
    const database = {
      select: (_sql: string, _parameters: object, signal?: AbortSignal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    } as Partial<Database> as Database; // Nothing else of it is used.
    const recent = createRecentReadings({ storedThrough: () => 9, retained: 2 });
    const readings = [1, 2, 3, 4].map((position) => acceptedReading({ position }));
    for (const reading of readings) recent.add(reading);
    const awaitRows = createAwaitRows({
      database,
      writer: null,
      readRuns: async () => lineage ?? new Promise(() => undefined),
      what: 'readings',
    });
    const reader = createObservationReader({ recent, database, awaitRows });
    expect(reader.page('wheel-1', 2, 9, neverAborted)).toEqual({ items: readings.slice(2), more: false });
    const refused = expect(reader.page('wheel-1', 1, 9, neverAborted)).rejects.toThrow(RecordsUnavailable);
    await vi.advanceTimersByTimeAsync(1_900);
    await refused;
    expect(signals.map((signal) => signal?.aborted)).toEqual(lineage === null ? [] : [true]);
  });
});
