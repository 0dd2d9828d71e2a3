import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurnBudget, expensiveMsPerTurn } from '../../http/server/limits/turnBudget.ts';
import { manualClock } from '../support/manualClock.ts';

it('expensive requests that arrive together leave turns of the event loop to others, and are all answered', async () => {
  const clock = manualClock();
  const budget = createTurnBudget(clock);
  let turn = 0;
  let isOver = false;
  const countTurn = () => {
    turn++;
    if (!isOver) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const turns = await new Promise<number[]>((resolve) => {
    const done: number[] = [];
    for (let index = 0; index < 10; index++)
      budget.run(() => {
        clock.advance(expensiveMsPerTurn / 2);
        if (done.push(turn) === 10) resolve(done);
      });
  });
  isOver = true;
  // Two fit in each turn.
  const [first = 0] = turns;
  expect(turns.map((one) => one - first)).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
  expect(budget.isSpent()).toBe(true);
  await nextTurn();
  expect(budget.isSpent()).toBe(false);
});

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
