import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeIds,
  type EncodedIdRun,
  encodeIds,
  noRememberedIds,
  type RememberedIds,
  rememberedIdsMin,
  rememberedMs,
  rememberId,
} from '../../actors/settlement/rememberedIds.ts';

/** All records, by number. */
function listRecords(ids: RememberedIds): Map<number, EncodedIdRun> {
  const records = new Map<number, EncodedIdRun>();
  for (const [number, run] of encodeIds(ids, noRememberedIds))
    if (run !== undefined) records.set(number, run);
  return records;
}

describe('remembered IDs', () => {
  it('are restored from the changed records, also if some IDs are forgotten', () => {
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
        const records = listRecords(ids);
        for (const { count, days } of steps) {
          const before = ids;
          remember(count);
          storedAtMs += days * dayMs;
          for (const [record, run] of encodeIds(ids, before)) {
            expect(run).not.toEqual(records.get(record));
            if (run === undefined) records.delete(record);
            else records.set(record, run);
          }
          expect(records).toEqual(listRecords(ids));
          expect(decodeIds(records.values())).toEqual(ids);
        }
      }),
      { numRuns: 2, examples: [300, 228].map((count) => [true, [{ count, days: 2 }]]) },
    );
  });

  it('need one record for a new ID while none is forgotten', () => {
    const remember = (ids: RememberedIds, count: number, atMs: number) =>
      Array.from({ length: count }).reduce<RememberedIds>(
        (before, _, index) => rememberId(before, `${atMs} ${index}`, atMs),
        ids,
      );
    const before = remember(remember(noRememberedIds, 60, 0), rememberedIdsMin, rememberedMs + 1);
    const ids = rememberId(before, 'new', rememberedMs + 1);
    expect([before.forgotten, ids.forgotten]).toEqual([60, 60]);
    expect([...encodeIds(ids, before)]).toHaveLength(1);
  });

  it('take some thirty bytes each in a snapshot, and are refused where some are missing', () => {
    let ids = noRememberedIds;
    for (let number = 0; number < 9_000; number++)
      ids = rememberId(ids, `id ${number} `.padEnd(128, 'x'), 1_800_000_000_000 + number);
    expect(JSON.stringify([...listRecords(ids)]).length).toBeLessThan(9_000 * 30);
    const runs = [...listRecords(ids).values()];
    expect(() => decodeIds(runs.filter((_, index) => index !== 1))).toThrow('are missing');
  });
});
