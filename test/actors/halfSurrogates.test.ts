import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findHalfSurrogate, replaceHalfSurrogates } from '../../actors/messages/halfSurrogates.ts';
import { runs } from '../support/propertyRuns.ts';

/** Texts of what may be mistaken: halves, pairs, backslashes, and digits behind them. */
const text = fc
  .array(
    fc.constantFrom('\ud83d', '\ude00', '\udbff', '😀', '\\', 'u', 'd83d', 'uDE00', '"', '\n', '\u0001', 'é'),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.constantFrom(null, 1, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3 }),
  ),
})).value;

function mapTexts(of: unknown, map: (text: string) => string): unknown {
  if (typeof of === 'string') return map(of);
  if (typeof of !== 'object' || of === null) return of;
  if (Array.isArray(of)) return of.map((item) => mapTexts(item, map));
  return Object.fromEntries(Object.entries(of).map(([key, member]) => [map(key), mapTexts(member, map)]));
}

it('half of a surrogate pair is found in JSON however it is escaped', () => {
  const halves = new Set<boolean>();
  const escapeAll = (json: string, isUpper: boolean) =>
    json.replace(/[^\x20-\x7e]/g, (unit) => {
      const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${isUpper ? digits.toUpperCase() : digits}`;
    });
  fc.assert(
    fc.property(value, fc.boolean(), fc.boolean(), (given, isEscaped, isUpper) => {
      const plain = JSON.stringify(given);
      const json = isEscaped ? escapeAll(plain, isUpper) : plain;
      let hasHalf = false;
      mapTexts(given, (one) => {
        hasHalf ||= !one.isWellFormed();
        return one;
      });
      halves.add(hasHalf);
      expect([json, findHalfSurrogate(json) !== null]).toEqual([json, hasHalf]);
      expect(JSON.parse(replaceHalfSurrogates(json))).toEqual(mapTexts(given, (one) => one.toWellFormed()));
    }),
    { numRuns: runs(1_000) },
  );
  expect(halves.size).toBe(2);
});
