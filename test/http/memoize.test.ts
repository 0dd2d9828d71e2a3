import { expect, it } from 'vitest';
import { memoize } from '../../http/server/memoize.ts';

it('a memoized function computes once per text, and many texts take little memory', () => {
  const asked: string[] = [];
  const computeLength = memoize((text) => {
    asked.push(text);
    return text === '' ? null : text.length;
  }, 3);
  expect([computeLength('aa'), computeLength('aa'), computeLength(''), computeLength('')]).toEqual([
    2,
    2,
    null,
    null,
  ]);
  expect(asked).toEqual(['aa', '']);
  for (const text of ['b', 'c', 'aa']) computeLength(text);
  expect(asked).toEqual(['aa', '', 'b', 'c', 'aa']);
});
