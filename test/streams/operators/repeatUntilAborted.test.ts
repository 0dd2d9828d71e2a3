import { describe, expect, it, vi } from 'vitest';
import { repeatUntilAborted } from '../../../streams/operators/repeatUntilAborted.ts';
import { useVirtualTime } from '../../support/fakeTimers.ts';

describe('a step that is repeated until it is aborted', () => {
  useVirtualTime();

  /** Steps of 30 ms, and the times at which each began. */
  function startRepeating(delaysMs: readonly number[]) {
    const atMs: number[] = [];
    const stopping = new AbortController();
    const startMs = Date.now();
    let ended = false;
    const running = repeatUntilAborted(
      async () => {
        atMs.push(Date.now() - startMs);
        await new Promise((resolve) => setTimeout(resolve, 30));
      },
      () => delaysMs[(atMs.length - 1) % delaysMs.length] as number,
      stopping.signal,
    ).then(() => {
      ended = true;
    });
    return { atMs, stopping, running, isEnded: () => ended };
  }

  it('waits after each step for the time that the step returns', async () => {
    const { atMs, stopping, running } = startRepeating([100, 200]);
    await vi.advanceTimersByTimeAsync(600);
    stopping.abort();
    await running;
    expect(atMs).toEqual([0, 130, 360, 490]);
  });

  it('ends at once between two steps, or else after the running step', async () => {
    const waiting = startRepeating([100]);
    await vi.advanceTimersByTimeAsync(50);
    waiting.stopping.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(waiting.isEnded()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    const stepping = startRepeating([100]);
    await vi.advanceTimersByTimeAsync(10);
    stepping.stopping.abort();
    await vi.advanceTimersByTimeAsync(19);
    expect(stepping.isEnded()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([stepping.isEnded(), stepping.atMs]).toEqual([true, [0]]);
  });

  it('fails when a step fails', async () => {
    const step = async () => {
      throw new Error('failed');
    };
    await expect(repeatUntilAborted(step, () => 0, new AbortController().signal)).rejects.toThrow('failed');
  });
});
