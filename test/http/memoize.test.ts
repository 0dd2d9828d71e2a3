import { expect, it } from 'vitest';
import { memoize, memoizedCharactersMax } from '../../http/server/answers/memoize.ts';
import { createEncodingChoice, encodingCharactersMax } from '../../http/server/answers/preparedResponse.ts';

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

it('a memoized function does not keep a long text', () => {
  let computed = 0;
  const count = memoize(() => ++computed, 3);
  for (const length of [memoizedCharactersMax, memoizedCharactersMax + 1]) {
    const first = count('a'.repeat(length));
    expect(count('a'.repeat(length)) === first).toBe(length === memoizedCharactersMax);
  }
});

it('an encoding is chosen from a header of bounded length', () => {
  const choose = createEncodingChoice();
  const pad = (length: number) => 'gzip'.padEnd(length);
  expect(choose(pad(encodingCharactersMax))).toBe('gzip');
  expect(choose(pad(encodingCharactersMax + 1))).toBe('identity');
});
