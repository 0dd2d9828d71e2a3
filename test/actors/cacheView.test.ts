import { describe, expect, it } from 'vitest';
import { cacheView } from '../../actors/caching/cacheView.ts';
import { memoizeByIdentity } from '../../actors/caching/memoizeByIdentity.ts';
import { manualClock } from '../support/manualClock.ts';

describe('a cached view', () => {
  it('is computed when it is requested, and again once one of its inputs, or of the request, has changed', () => {
    let [first, computed] = [{ value: 1 }, 0];
    const view = cacheView({
      inputs: (word: string, age: number) => [first, word, age > 120],
      compute: ({ value }, word, isOld) => ({ value, word, isOld, computed: ++computed }),
    });
    expect(computed).toBe(0);
    expect([view('a', 1), view('a', 120)]).toEqual(
      Array(2).fill({ value: 1, word: 'a', isOld: false, computed: 1 }),
    );
    expect(view('a', 121)).toMatchObject({ isOld: true, computed: 2 });
    expect([view('b', 121), view('b', 121)]).toEqual(
      Array(2).fill({ value: 1, word: 'b', isOld: true, computed: 3 }),
    );
    first = { value: 1 };
    expect(view('b', 121)).toMatchObject({ computed: 4 });
  });

  it('is computed again at its maximum age, or outdated at its minimum age', () => {
    const clock = manualClock(0);
    let [input, isOutdated] = [1, false];
    const view = cacheView({
      inputs: () => [input],
      compute: (value) => ({ value }),
      validity: { clock, minAgeMs: 1_000, maxAgeMs: 30_000, isOutdated: () => isOutdated },
    });
    const shown = view();
    input = 2;
    clock.advance(999);
    expect(view()).toBe(shown);
    clock.advance(1);
    const changed = view();
    expect(changed).toEqual({ value: 2 });
    clock.advance(-3_600_000); // The clock was set back.
    clock.advance(29_999);
    expect(view()).toBe(changed);
    clock.advance(1);
    expect(view()).not.toBe(changed);
    [input, isOutdated] = [3, true];
    expect(view()).toMatchObject({ value: 3 });
  });
});

it('a function that is memoized by identity is called once per object', () => {
  let asked = 0;
  const measure = memoizeByIdentity(({ text }: { readonly text: string }) => {
    asked++;
    return text === '' ? undefined : text.length;
  });
  const [one, same, empty] = [{ text: 'one' }, { text: 'one' }, { text: '' }];
  expect([one, one, same, empty, empty].map(measure)).toEqual([3, 3, 3, undefined, undefined]);
  expect(asked).toBe(3);
});
