import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesEtag } from '../../http/server/requests/ifNoneMatch.ts';

const opaque = fc.string({
  unit: fc.constantFrom(...'abcABC0129._-!#%'.split('')),
  minLength: 1,
  maxLength: 12,
});
const spaces = fc.constantFrom('', ' ', '  ', '\t');

describe('If-None-Match', () => {
  it('matches exactly when one entry of the list, strong or weak, is the tag', () => {
    const entry = fc.record({ tag: opaque, isWeak: fc.boolean(), before: spaces, after: spaces });
    fc.assert(
      fc.property(opaque, fc.array(entry, { minLength: 1, maxLength: 6 }), (current, entries) => {
        const header = entries
          .map(({ tag, isWeak, before, after }) => `${before}${isWeak ? 'W/' : ''}"${tag}"${after}`)
          .join(',')
          .replaceAll('\t', ' ');
        expect(matchesEtag(header, `"${current}"`)).toBe(entries.some(({ tag }) => tag === current));
      }),
      { numRuns: 2_000 },
    );
  });
});
