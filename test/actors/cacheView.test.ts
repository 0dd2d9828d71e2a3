import { describe, expect, it } from 'vitest';
import { cacheView } from '../../actors/cacheView.ts';
import { memoizeByIdentity } from '../../actors/memoizeByIdentity.ts';
import { manualClock } from '../support/manualClock.ts';

describe('a cached view', () => {
  it('stays the same object until one of its inputs changes', () => {
    let [first, second] = [{ value: 1 }, 'a'];
    const view = cacheView({
      inputs: () => [first, second],
      compute: ({ value }, word) => ({ text: `${value}${word}` }),
    });
    const shown = view();
    expect(shown).toEqual({ text: '1a' });
    expect(view()).toBe(shown);
    second = 'b';
    const changed = view();
    expect(changed).toEqual({ text: '1b' });
    expect(view()).toBe(changed);
    first = { value: 1 };
    expect(view()).not.toBe(changed);
  });

  it('is computed when it is requested, and not before', () => {
    let computed = 0;
    const view = cacheView({ inputs: () => [], compute: () => ++computed });
    expect(computed).toBe(0);
    expect([view(), view()]).toEqual([1, 1]);
  });

  it('takes its inputs from the request', () => {
    const view = cacheView({
      inputs: (id: string, ageMs: number) => [id, ageMs > 120],
      compute: (id, isOld) => ({ id, isOld }),
    });
    const shown = view('one', 1);
    expect(view('one', 120)).toBe(shown);
    expect(view('one', 121)).toEqual({ id: 'one', isOld: true });
    expect(view('two', 1)).toEqual({ id: 'two', isOld: false });
  });

  it('is computed again at its maximum age', () => {
    const clock = manualClock(0);
    const view = cacheView({
      inputs: () => [],
      compute: () => ({ atMs: clock.nowMs() }),
      validity: { clock, maxAgeMs: 1_000 },
    });
    const shown = view();
    clock.advance(999);
    expect(view()).toBe(shown);
    clock.advance(1);
    expect(view()).toEqual({ atMs: 1_000 });
  });

  it('is shown below its minimum age with any inputs, unless it is outdated', () => {
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
    expect(view()).toEqual({ value: 2 });
    input = 3;
    isOutdated = true;
    expect(view()).toEqual({ value: 3 });
  });
});

describe('a function that is memoized by identity', () => {
  it('is called once per object', () => {
    let asked = 0;
    const measure = memoizeByIdentity(({ text }: { readonly text: string }) => {
      asked++;
      return text === '' ? undefined : text.length;
    });
    const [one, same, empty] = [{ text: 'one' }, { text: 'one' }, { text: '' }];
    const lengths = [one, one, same, empty, empty].map(measure);
    expect(lengths).toEqual([3, 3, 3, undefined, undefined]);
    expect(asked).toBe(3);
  });
});
