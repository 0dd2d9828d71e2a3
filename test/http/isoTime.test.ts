import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toIsoString } from '../../http/responses/isoTime.ts';

const firstMs = Date.parse('0000-01-01T00:00:00.000Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

describe('a time in ISO 8601', () => {
  it('is what Date writes, from the year 0 to 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: firstMs, max: lastMs }), (timeMs) => {
        expect(toIsoString(timeMs)).toBe(new Date(timeMs).toISOString());
      }),
      { numRuns: 20_000 },
    );
  });

  it('is what Date writes on every day of 400 years, leap days among them, and at its ends', () => {
    const from = Date.parse('1900-01-01T00:00:00.000Z');
    for (let day = 0; day < 146_097; day++)
      for (const timeMs of [from + day * 86_400_000 - 1, from + day * 86_400_000])
        if (toIsoString(timeMs) !== new Date(timeMs).toISOString())
          expect(toIsoString(timeMs)).toBe(new Date(timeMs).toISOString());
  });

  it('ends with the year 9999, whatever a contract holds', () => {
    expect(toIsoString(lastMs)).toBe('9999-12-31T23:59:59.999Z');
    for (const timeMs of [lastMs + 1, 8.64e15, 8.64e15 + 1, Number(2n ** 64n - 1n) * 1_000, 2 ** 256 * 1_000])
      expect(toIsoString(timeMs)).toBe('9999-12-31T23:59:59.999Z');
  });
});
