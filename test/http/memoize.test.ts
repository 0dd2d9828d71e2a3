import { expect, it } from 'vitest';
import { memoize } from '../../http/server/memoize.ts';

it('what is memoize of a text is asked once, and the memory of many texts stays small', () => {
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
