import { expect, it, vi } from 'vitest';
import type { DatabaseReach } from '../../machines/serviceMachine.ts';
import { watchDatabase } from '../../streams/health/databaseWatch.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

useVirtualTime();

it('the watch asks at once and every two seconds, treats a late answer as a failure, and distinguishes short and long outages', async () => {
  const succeed = async () => [];
  const refuse = () => Promise.reject(new Error('refused'));
  const hang = () => new Promise<never>(() => undefined);
  let answer: () => Promise<never[]> = succeed;
  let [asked, aborted] = [0, 0];
  let reach: DatabaseReach | null = null;
  const database = {
    kind: 'server' as const,
    select: async (_statement: string, _parameters?: object, signal?: AbortSignal) => {
      asked++;
      let isAnswered = false;
      signal?.addEventListener('abort', () => {
        if (!isAnswered) aborted++;
      });
      const rows = await answer();
      isAnswered = true;
      return rows;
    },
  };
  const watch = watchDatabase(database, 10_000).subscribe((newest) => {
    reach = newest;
  });
  const shown = () => [reach?.isReachable, reach?.isWithinGrace];
  expect(shown()).toEqual([false, false]);
  await pass(0);
  expect(shown()).toEqual([true, true]);
  await pass(4_000);
  expect(asked).toBe(3);
  answer = hang;
  await pass(3_400);
  expect([shown(), aborted]).toEqual([[true, true], 0]);
  await pass(100);
  expect([shown(), aborted]).toEqual([[false, true], 1]);
  for (const [next, ms, isReachable, isWithinGrace] of [
    [hang, 3_500, false, true],
    [succeed, 2_000, true, true],
    [refuse, 2_000, false, true],
    [refuse, 9_999, false, true],
    [refuse, 1, false, false],
    [succeed, 2_000, true, true],
  ] as const) {
    answer = next;
    await pass(ms);
    expect(shown()).toEqual([isReachable, isWithinGrace]);
  }
  watch.unsubscribe();
  await pass(10_000);
  expect(asked).toBe(3 + 1 + 1 + 1 + 6 + 1);
});

it('the embedded engine is asked every ten seconds, and every two seconds while it does not answer', async () => {
  let isAnswering = true;
  let asked = 0;
  const select = async () => {
    asked++;
    if (!isAnswering) throw new Error('no space');
    return [];
  };
  const shown: boolean[] = [];
  const watch = watchDatabase({ kind: 'embedded', select }, 10_000).subscribe(({ isReachable }) => {
    shown.push(isReachable);
  });
  await pass(9_999);
  expect(asked).toBe(1);
  isAnswering = false;
  await pass(1);
  await pass(2_000);
  isAnswering = true;
  await pass(2_000);
  expect([asked, shown]).toEqual([4, [false, true, false, true]]);
  watch.unsubscribe();
});
