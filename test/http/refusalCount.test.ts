import { expect, it } from 'vitest';
import { createRefusalCount, refusalsPerTurn } from '../../http/server/limits/refusalCount.ts';

it('refusals are a flood after the limit of a turn of the event loop, and count anew in the next one', async () => {
  const refusals = createRefusalCount();
  const refuse = (times: number) => Array.from({ length: times }, () => refusals.isFlooded());
  expect(refuse(refusalsPerTurn)).not.toContain(true);
  expect(refuse(2)).toEqual([true, true]);
  await new Promise(setImmediate);
  expect(refuse(refusalsPerTurn)).not.toContain(true);
});
