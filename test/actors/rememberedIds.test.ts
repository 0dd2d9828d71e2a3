import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeIds,
  encodeIds,
  noRememberedIds,
  rememberedIdsMin,
  rememberedMs,
  rememberId,
} from '../../actors/settlement/rememberedIds.ts';

describe('remembered IDs', () => {
  it('are restored from their records, also if some IDs are forgotten', () => {
    const dayMs = 86_400_000;
    const step = fc.record({ count: fc.integer({ min: 0, max: 400 }), days: fc.nat(3) });
    fc.assert(
      fc.property(fc.boolean(), fc.array(step, { maxLength: 8 }), (isLong, steps) => {
        let ids = noRememberedIds;
        let storedAtMs = Date.UTC(2026, 0, 31);
        let number = 0;
        const remember = (count: number) => {
          for (let index = 0; index < count; index++) ids = rememberId(ids, `id ${number++}`, storedAtMs++);
        };
        // Older IDs are forgotten during the steps.
        if (isLong) remember(rememberedIdsMin - 100);
        if (isLong) storedAtMs += rememberedMs;
        for (const { count, days } of steps) {
          remember(count);
          storedAtMs += days * dayMs;
          expect(decodeIds(encodeIds(ids).toReversed())).toEqual(ids);
        }
      }),
      { numRuns: 2, examples: [300, 228].map((count) => [true, [{ count, days: 2 }]]) },
    );
  });

  it('take some thirty bytes each, and are refused with gaps', () => {
    let ids = noRememberedIds;
    for (let number = 0; number < 9_000; number++)
      ids = rememberId(ids, `id ${number} `.padEnd(128, 'x'), 1_800_000_000_000 + number);
    const runs = encodeIds(ids);
    expect(JSON.stringify(runs).length).toBeLessThan(9_000 * 30);
    expect(() => decodeIds(runs.filter((_, index) => index !== 1))).toThrow('are missing');
  });
});
