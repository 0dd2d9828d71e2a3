import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pollUntil } from '../../storage/reading/awaitRows.ts';

describe('a condition that is polled until it is met', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A condition that is met after some checks, each of a given length. */
  function condition(metAfter: number, { takesMs = 0 } = {}) {
    const askedMs: number[] = [];
    const startMs = Date.now();
    const isMet = async () => {
      askedMs.push(Date.now() - startMs);
      if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
      return askedMs.length > metAfter;
    };
    return { askedMs, isMet };
  }

  it('does not wait when it is met', async () => {
    const { askedMs, isMet } = condition(0);
    expect(await pollUntil(isMet, { everyMs: 50 })).toBe(true);
    expect([askedMs, vi.getTimerCount()]).toEqual([[0], 0]);
  });

  it('is queried one at a time, until it is met', async () => {
    const { askedMs, isMet } = condition(3, { takesMs: 120 });
    const met = pollUntil(isMet, { everyMs: 50 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await met).toBe(true);
    expect(askedMs).toEqual([0, 170, 320, 470]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is abandoned after the limit, also while a query hangs', async () => {
    const { isMet } = condition(1_000);
    const never = pollUntil(isMet, { everyMs: 50, limitMs: 3_000 });
    const hanging = pollUntil(
      vi.fn(() => new Promise<boolean>(() => undefined)).mockResolvedValueOnce(false),
      { everyMs: 50, limitMs: 3_000 },
    );
    await vi.advanceTimersByTimeAsync(3_000);
    expect([await never, await hanging]).toEqual([false, false]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is abandoned when the signal is aborted', async () => {
    const stopping = new AbortController();
    const met = pollUntil(() => false, { everyMs: 50, signal: stopping.signal });
    await vi.advanceTimersByTimeAsync(120);
    stopping.abort();
    await vi.advanceTimersByTimeAsync(50);
    expect(await met).toBe(false);
  });

  it('fails when a query fails', async () => {
    const isMet = vi.fn(async () => false).mockResolvedValueOnce(false);
    isMet.mockRejectedValueOnce(new Error('unavailable'));
    const met = pollUntil(isMet, { everyMs: 50 });
    const failing = expect(met).rejects.toThrow('unavailable');
    await vi.advanceTimersByTimeAsync(100);
    await failing;
  });
});
