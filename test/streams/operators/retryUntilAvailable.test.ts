import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { retryUntilAvailable } from '../../../streams/operators/retryUntilAvailable.ts';
import { useVirtualTime } from '../../support/fakeTimers.ts';

/** Attempts that fail at first. */
function attempts(failing: number) {
  const atMs: number[] = [];
  const failures: unknown[] = [];
  const stopping = new AbortController();
  const startMs = Date.now();
  const result = retryUntilAvailable(
    async () => {
      atMs.push(Date.now() - startMs);
      if (atMs.length <= failing) throw new Error('unavailable');
      return 'available';
    },
    {
      signal: stopping.signal,
      onFirstFailure: (error) => failures.push(error),
      backoff: { firstMs: 100, longestMs: 300 },
    },
  );
  result.catch(() => undefined);
  return { atMs, failures, stopping, result };
}

describe('an attempt that is retried until it succeeds', () => {
  useVirtualTime();

  it('is repeated at growing intervals until it succeeds', async () => {
    const { atMs, failures, stopping, result } = attempts(4);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await result).toBe('available');
    expect(atMs).toEqual([0, 100, 300, 600, 900]);
    expect(failures).toEqual([new Error('unavailable')]);
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
  });

  it('ends with the reason when it is aborted between two attempts', async () => {
    const { atMs, stopping, result } = attempts(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(150);
    stopping.abort(new Error('stopped'));
    await expect(result).rejects.toThrow('stopped');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(atMs).toEqual([0, 100]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns the result of an aborted attempt, and logs no failure', async () => {
    const succeeding = attempts(0);
    succeeding.stopping.abort(new Error('stopped'));
    expect(await succeeding.result).toBe('available');
    const failing = attempts(1);
    failing.stopping.abort(new Error('stopped'));
    await expect(failing.result).rejects.toThrow('stopped');
    expect(failing.failures).toEqual([]);
  });

  it('makes no attempt if it is aborted already', async () => {
    const attempt = vi.fn(async () => 'available');
    const result = retryUntilAvailable(attempt, {
      signal: AbortSignal.abort(new Error('stopped')),
      onFirstFailure: () => undefined,
    });
    await expect(result).rejects.toThrow('stopped');
    expect(attempt).not.toHaveBeenCalled();
  });
});
