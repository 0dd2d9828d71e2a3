import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { compileCheck } from '../../actors/schemas/compileCheck.ts';
import { oracleMessage } from '../../actors/settlement/oracleMessage.ts';
import { counterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { runs } from '../support/propertyRuns.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';

/** Values that lie near what messages hold. */
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.string(),
  fc.stringMatching(/^[0-9]{1,79}$/),
  fc.constantFrom(
    (2n ** 256n - 1n).toString(),
    (2n ** 256n).toString(),
    '0',
    '00',
    '-1',
    'hardware',
    'IDLE',
    'toString',
    'x'.repeat(256),
    'x'.repeat(257),
  ),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-02-29T00:00:00Z',
    '2024-02-29T00:00:00Z',
    '2026-01-31T12:00:00+00:00',
    '2026-01-31 12:00:00Z',
  ),
  fc.constantFrom(2 ** 53 - 1, 2 ** 53, -0, -1, 0.5, 1e300, Number.NaN),
);
const key = fc.constantFrom(...Object.keys(counterReadingMessage.shape), 'another', '__proto__');
const change = fc.oneof(fc.record({ key, value }), fc.record({ key, value: fc.constant(undefined) }));

describe('a compiled check', () => {
  it('says of a reading what the schema says, whatever is changed of it', () => {
    const fits = compileCheck(counterReadingMessage);
    let fitting = 0;
    fc.assert(
      fc.property(fc.nat(1_000), fc.array(change, { maxLength: 2 }), (index, changes) => {
        const message: Record<string, unknown> = { ...readingMessage('wheel-1', index) };
        for (const { key: member, value: given } of changes) {
          if (given === undefined) delete message[member];
          else
            Object.defineProperty(message, member, {
              value: given,
              enumerable: true,
              configurable: true,
              writable: true,
            });
        }
        const expected = counterReadingMessage.safeParse(message).success;
        if (expected) fitting++;
        expect(fits(message)).toBe(expected);
      }),
      { numRuns: runs(8_000) },
    );
    expect(fitting).toBeGreaterThan(1_000);
    for (const nothing of [null, undefined, 1, 'text', [], [readingMessage('wheel-1', 1)]])
      expect(fits(nothing)).toBe(false);
  });

  it('leaves to zod what it does not know', () => {
    const odd = [
      oracleMessage,
      z.strictObject({ a: z.string() }),
      z.object({ a: z.string().optional(), b: z.email(), c: z.coerce.string() }),
      z.object({ a: z.number().min(3) }).refine(({ a }) => a !== 4),
      z.string().regex(/a/g),
      z.string().toLowerCase(),
      z.int().min(0).max(5),
      z.number().nullable(),
      z.union([z.string(), z.literal(3)]),
    ];
    fc.assert(
      fc.property(
        fc.oneof(value, fc.record({ a: value, b: value, c: value }), fc.record({ a: value })),
        (given) => {
          for (const schema of odd) expect(compileCheck(schema)(given)).toBe(schema.safeParse(given).success);
        },
      ),
      { numRuns: 500 },
    );
  });
});
