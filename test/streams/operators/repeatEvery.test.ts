import { expect, it, vi } from 'vitest';
import { repeatEvery } from '../../../streams/operators/repeatEvery.ts';
import { useVirtualTime } from '../../support/fakeTimers.ts';

useVirtualTime();

it('steps are taken at each interval, one after another, also after one that failed', async () => {
  let steps = 0;
  let step: () => Promise<void> = async () => undefined;
  const subscription = repeatEvery(1_000, () => {
    steps++;
    return step();
  }).subscribe();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(steps).toBe(2);
  step = () => Promise.reject(new Error('unavailable'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(steps).toBe(4);
  let answer: () => void = () => undefined;
  step = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(steps).toBe(5);
  answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(steps).toBe(6);
  subscription.unsubscribe();
  expect(vi.getTimerCount()).toBe(0);
});
