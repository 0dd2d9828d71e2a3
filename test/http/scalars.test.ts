import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { decimal, uint64Decimal } from '../../http/responses/scalars.ts';

describe.each([
  ['uint64', uint64Decimal, 2n ** 64n - 1n],
  ['uint256', decimal, 2n ** 256n - 1n],
] as const)('a %s decimal of a response', (_, schema, max) => {
  const published = new Ajv2020({ strict: false, validateFormats: false }).compile(z.toJSONSchema(schema));

  it('is any integer from 0 through its largest value, and nothing above it', () => {
    const near = fc.bigInt({ min: -1_000n, max: 1_000n }).map((offset) => max + offset);
    const anyLength = fc.bigInt({ min: 0n, max: max * 100n });
    // The largest value with one digit replaced, below and above it.
    const digits = max.toString();
    const replaced = fc
      .tuple(fc.nat(digits.length - 1), fc.integer({ min: 0, max: 9 }))
      .map(([place, digit]) => BigInt(`${digits.slice(0, place)}${digit}${digits.slice(place + 1)}`));
    fc.assert(
      fc.property(fc.oneof(near, anyLength, replaced, fc.bigInt({ min: 0n, max: 99n })), (value) => {
        const text = value.toString();
        expect([text, schema.safeParse(text).success]).toEqual([text, value <= max]);
        expect([text, published(text)]).toEqual([text, value <= max]);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['', '-4', '-0', '+1', '00', '01', '1.0', '1e3', ' 1', '1\n', '0x1', '٣'])('is not %j', (text) => {
    expect(schema.safeParse(text).success).toBe(false);
    expect(published(text)).toBe(false);
  });
});
