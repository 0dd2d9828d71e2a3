import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findFirstIndex } from '../../actors/events/findFirstIndex.ts';

it('equals a linear search, or the size of the list', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.nat(25), (numbers, bound) => {
      const ascending = numbers.toSorted((a, b) => a - b);
      const found = ascending.findIndex((number) => number >= bound);
      const index = findFirstIndex(ascending.length, (at) => (ascending[at] as number) >= bound);
      expect(index).toBe(found === -1 ? ascending.length : found);
    }),
  );
});
