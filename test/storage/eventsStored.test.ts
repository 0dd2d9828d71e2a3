import { BehaviorSubject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EvictedSource } from '../../actors/feed/olderEvents.ts';
import { createWriterEventsStored } from '../../storage/eventsStored.ts';
import { openEnd } from '../../storage/lineages.ts';

const awaited = { source: 'measurement', evicted: { atPosition: 5 } } as EvictedSource;
const runs = [{ run: 'own', through: openEnd }];
const neverAborted = new AbortController().signal;

/** A writer whose progress a test reports. */
function startWaiting(signal = neverAborted) {
  const progress$ = new BehaviorSubject({ storedThrough: 3, isFailing: false });
  const flushNow = vi.fn();
  const writer = {
    progress$,
    flushNow,
    storedThrough: () => progress$.value.storedThrough,
    isFailing: () => progress$.value.isFailing,
  };
  const eventsStored = createWriterEventsStored({
    measurement: { writer, readRuns: async () => runs },
    chain: null,
  });
  const ask = () => eventsStored(awaited, signal);
  return { progress$, flushNow, ask };
}

describe('events that the writer of this process has not stored', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are awaited until it reports them, and are flushed meanwhile', async () => {
    const { progress$, flushNow, ask } = startWaiting();
    const asked = ask();
    await vi.waitFor(() => expect(flushNow).toHaveBeenCalledOnce());
    progress$.next({ storedThrough: 4, isFailing: false });
    progress$.next({ storedThrough: 6, isFailing: false });
    expect(await asked).toBe(runs);
    expect(await ask()).toBe(runs);
    expect(flushNow).toHaveBeenCalledOnce();
    expect([progress$.observed, vi.getTimerCount()]).toEqual([false, 0]);
  });

  it('are unavailable once rows are not stored, after three seconds, and after an abort', async () => {
    const failing = startWaiting();
    const refused = expect(failing.ask()).rejects.toThrow('rows are not stored at the moment');
    failing.progress$.next({ storedThrough: 4, isFailing: true });
    await refused;

    const late = expect(startWaiting().ask()).rejects.toThrow('does not hold the older measurement events');
    await vi.advanceTimersByTimeAsync(3_000);
    await late;

    const stopping = new AbortController();
    const aborted = startWaiting(stopping.signal);
    const [before, after] = [aborted.ask(), expect(aborted.ask()).rejects.toThrow('does not hold')];
    stopping.abort();
    await expect(before).rejects.toThrow('does not hold');
    await after;
    await expect(aborted.ask()).rejects.toThrow('does not hold');
    expect([aborted.progress$.observed, vi.getTimerCount()]).toEqual([false, 0]);
  });
});
