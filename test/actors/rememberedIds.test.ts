import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeIds,
  encodeIds,
  isRemembered,
  noRememberedIds,
  rememberedIdsMax,
  rememberedIdsMin,
  rememberedMs,
  rememberId,
} from '../../actors/settlement/rememberedIds.ts';

describe('remembered IDs', () => {
  const remember = (ids: typeof noRememberedIds, from: number, to: number, storedAtMs: number) => {
    let remembered = ids;
    for (let number = from; number < to; number++)
      remembered = rememberId(remembered, `id ${number}`, storedAtMs);
    return remembered;
  };

  it('are the newest 10,000 of any age, and all of 90 days', () => {
    const some = remember(noRememberedIds, 0, rememberedIdsMin, 0);
    const inTime = remember(some, rememberedIdsMin, rememberedIdsMin + 1, rememberedMs);
    expect(isRemembered(inTime, 'id 0')).toBe(true);
    const later = remember(some, rememberedIdsMin, rememberedIdsMin + 1, rememberedMs + 1);
    expect(isRemembered(later, 'id 0')).toBe(false);
    expect(isRemembered(later, 'id 1')).toBe(true);
  });

  it('are never more than 100,000', () => {
    const full = remember(noRememberedIds, 0, rememberedIdsMax, 0);
    expect(isRemembered(full, 'id 0')).toBe(true);
    const over = remember(full, rememberedIdsMax, rememberedIdsMax + 1, 0);
    expect(['id 0', 'id 1'].map((id) => isRemembered(over, id))).toEqual([false, true]);
    expect(over.entries.size).toBe(rememberedIdsMax);
  });

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

  it('take less than forty bytes each, and are refused with gaps', () => {
    let ids = noRememberedIds;
    for (let number = 0; number < 9_000; number++)
      ids = rememberId(ids, `id ${number} `.padEnd(128, 'x'), 1_800_000_000_000 + number);
    const runs = encodeIds(ids);
    expect(JSON.stringify(runs).length).toBeLessThan(9_000 * 40);
    expect(() => decodeIds(runs.filter((_, index) => index !== 1))).toThrow('are missing');
  });
});
