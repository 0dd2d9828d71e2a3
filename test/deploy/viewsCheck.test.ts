import { expect, it } from 'vitest';
import { createViewsCheck } from '../../streams/health/readiness.ts';
import { manualClock } from '../support/manualClock.ts';

it('views are shown once the chain was caught up, or later than the grace after all is restored', () => {
  const graceMs = 10_000;
  const start = (chain: { wasCurrent: boolean } | null) => {
    const clock = manualClock();
    const world = { isRestored: false, chain };
    const counter = ['MINER_COUNTER', { isRestored: true, wasCurrent: true }] as const;
    const followers = () => {
      const follower = world.chain && { ...world.chain, isRestored: world.isRestored };
      return new Map<string, object>(
        follower === null ? [[counter[0], world]] : [counter, ['MINER_CHAIN', follower]],
      );
    };
    const work = () => ({ followers: followers() });
    const hasViews = createViewsCheck({ work, graceMs, clock } as never);
    return { clock, world, hasViews };
  };
  const chainless = start(null);
  expect(chainless.hasViews()).toBe(false);
  chainless.world.isRestored = true;
  expect(chainless.hasViews()).toBe(true);

  const { clock, world, hasViews } = start({ wasCurrent: false });
  clock.advance(graceMs * 2);
  expect(hasViews()).toBe(false);
  world.isRestored = true;
  expect(hasViews()).toBe(false);
  clock.advance(graceMs);
  expect(hasViews()).toBe(false);
  clock.advance(1);
  expect(hasViews()).toBe(true);
  // A follower that restores again still shows the state before.
  world.isRestored = false;
  expect(hasViews()).toBe(true);

  const caughtUp = start({ wasCurrent: false });
  caughtUp.world.isRestored = true;
  expect(caughtUp.hasViews()).toBe(false);
  caughtUp.world.chain = { wasCurrent: true };
  expect(caughtUp.hasViews()).toBe(true);
});
