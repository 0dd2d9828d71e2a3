import { expect, it } from 'vitest';
import { memoize } from '../../http/server/memoize.ts';

it('a memoized function computes once per text, and many texts take little memory', () => {
  const asked: string[] = [];
  const lengthOf = memoize((text) => {
    asked.push(text);
    return text === '' ? null : text.length;
  }, 3);
  expect([lengthOf('aa'), lengthOf('aa'), lengthOf(''), lengthOf('')]).toEqual([2, 2, null, null]);
  expect(asked).toEqual(['aa', '']);
  for (const text of ['b', 'c', 'aa']) lengthOf(text);
  expect(asked).toEqual(['aa', '', 'b', 'c', 'aa']);
});
