import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createTurns } from '../../http/server/limits/turns.ts';
import { manualClock } from '../support/manualClock.ts';

it('a turn of the event loop has one task, with what it continues at once, and the others wait in order', async () => {
  const clock = manualClock();
  const turns = createTurns(clock);
  const done: string[] = [];
  const gone = new Set(['b', 'c']);
  const take = (name: string) =>
    turns.take({
      isOver: () => gone.has(name),
      run: async () => {
        if (name === 'a') take('asked for by a');
        await null;
        done.push(name);
      },
    });
  for (const name of ['a', 'b', 'c', 'd', 'e']) take(name);
  clock.advance(30);
  expect(turns.waitedMs()).toBe(30);
  await null;
  expect(done).toEqual(['a']);
  // Tasks that nobody waits for take no turn.
  const expected = ['a', 'asked for by a', 'd', 'e'];
  for (let count = 2; count <= 4; count++) {
    await nextTurn();
    expect(done).toEqual(expected.slice(0, count));
  }
  expect(turns.waitedMs()).toBe(0);
  await nextTurn();
  take('f');
  await null;
  expect(done.at(-1)).toBe('f');
});
