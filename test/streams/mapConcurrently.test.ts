import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mapConcurrently } from '../../streams/indexer/mapConcurrently.ts';

it('calls are mapped in order within the limit, up to a failure', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ turns: fc.nat(4), fails: fc.boolean() }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 6 }),
      async (items, limit) => {
        const isFailing = items.some(({ fails }) => fails);
        const numbered = items.map((item, at) => ({ ...item, at }));
        let underWay = 0;
        const failures: Error[] = [];
        const mapping = mapConcurrently(numbered, limit, async ({ turns, fails, at }) => {
          underWay++;
          expect(underWay).toBeLessThanOrEqual(limit);
          for (let turn = 0; turn < turns; turn++) await Promise.resolve();
          underWay--;
          if (!fails) return at;
          failures.push(new Error(`item ${at} fails`));
          throw failures.at(-1);
        });
        const result = await mapping.catch((error: unknown) => error);
        expect(underWay).toBe(0);
        expect(result).toEqual(isFailing ? failures[0] : numbered.map(({ at }) => at));
      },
    ),
  );
});
