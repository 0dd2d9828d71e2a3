import { describe, expect, it } from 'vitest';
import { cacheView } from '../../actors/caching/cacheView.ts';
import { manualClock } from '../support/manualClock.ts';

describe('a cached view', () => {
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
