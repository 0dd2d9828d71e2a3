import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurnBudget, expensiveMsPerTurn } from '../../http/server/limits/turnBudget.ts';
import { manualClock } from '../support/manualClock.ts';

it('what an expensive request asks for in its turn comes after those that wait', async () => {
  const clock = manualClock();
  const budget = createTurnBudget(clock);
  const done: string[] = [];
  budget.run(() => clock.advance(expensiveMsPerTurn));
  budget.run(() => budget.run(() => done.push('asked for')));
  budget.run(() => done.push('waiting'));
  await new Promise<void>((resolve) => budget.run(resolve));
  await nextTurn();
  expect(done).toEqual(['waiting', 'asked for']);
});

it('an expensive request that fails takes its time, and lets the next ones run', async () => {
  const clock = manualClock();
  const budget = createTurnBudget(clock);
  const fail = () => {
    clock.advance(expensiveMsPerTurn);
    throw new Error('failed');
  };
  expect(() => budget.run(fail)).toThrow('failed');
  expect(budget.isSpent()).toBe(true);
  await new Promise<void>((resolve) => budget.run(resolve));
  expect(budget.isSpent()).toBe(false);
});
