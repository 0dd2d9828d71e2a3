import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readStoredAtMs } from '../../actors/messages/streamMessage.ts';
import { runs } from '../support/propertyRuns.ts';

it('the time of storage is exact to the millisecond, although the client rounds it', () => {
  const message = { seq: 1, subject: 'a', data: new Uint8Array() };
  const milliseconds = fc.integer({ min: 0, max: 4_102_444_800_000 });
  // Next to a border of two milliseconds, and anywhere between.
  const nanos = fc.oneof(fc.integer({ min: -1_500, max: 1_500 }), fc.integer({ min: 0, max: 999_999 }));
  fc.assert(
    fc.property(milliseconds, nanos, (ms, more) => {
      const timestampNanos = BigInt(ms + 1) * 1_000_000n + BigInt(more);
      const expected = Number(timestampNanos / 1_000_000n);
      const info = { timestampNanos: Number(timestampNanos) };
      expect(readStoredAtMs({ ...message, timestampNanos, info })).toBe(expected);
      expect(readStoredAtMs({ ...message, timestampNanos })).toBe(expected);
    }),
    { numRuns: runs(2_000) },
  );
});
