import { expect, it, vi } from 'vitest';
import { createStreamWork } from '../../streams/work/streamWork.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

useVirtualTime();

/** The work of a process whose followers a test replaces. */
function watchReplays(isDatabaseShared: boolean, takeReplay: () => Promise<void>) {
  const follower = { member: null, isRestored: true, takeReplay };
  const followers = new Map([['MINER_COUNTER', follower]]);
  const work = createStreamWork({
    followers: { followers },
    indexer: null,
    audit: { drifts: () => [] },
    auditSeconds: 300,
    isDatabaseShared,
    dropRuns: null,
  } as never); // Nothing else of them is used.
  return work.upkeep().subscribe();
}

it('replays are looked for each second, one after another', async () => {
  let looks = 0;
  let look: () => Promise<void> = async () => undefined;
  const subscription = watchReplays(true, () => {
    looks++;
    return look();
  });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looks).toBe(2);
  look = () => Promise.reject(new Error('unavailable'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(looks).toBe(4);
  let answer: () => void = () => undefined;
  look = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(looks).toBe(5);
  answer();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(looks).toBe(6);
  subscription.unsubscribe();
  expect(vi.getTimerCount()).toBe(0);
});

it('replays are not looked for if no other process can use the database', async () => {
  let looks = 0;
  const subscription = watchReplays(false, async () => void looks++);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(looks).toBe(0);
  subscription.unsubscribe();
});
