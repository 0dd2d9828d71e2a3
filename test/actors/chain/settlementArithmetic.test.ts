import fc from 'fast-check';
import { expect, it } from 'vitest';
import { projectFrontier, splitIntoBatches } from '../../../actors/chain/state/settlementArithmetic.ts';
import { settleRounds } from '../../reference/workToBlocks.ts';

const amount = fc.oneof(fc.constantFrom(0n, 0n, 1n), fc.bigInt(1n, 9n), fc.bigInt(1n, 10n ** 12n));
const difficulty = fc.oneof(fc.bigInt(1n, 9n), fc.bigInt(1n, 10n ** 12n));

it('the projected frontier is the reference’s, and leaves no round out', () => {
  fc.assert(
    fc.property(
      fc.array(amount, { minLength: 1, maxLength: 40, size: 'max' }),
      difficulty,
      fc.record({
        maxRoundsPerBatch: fc.bigInt(1n, 16n),
        // A high target makes the ideal difficulty zero.
        targetBlocksPerActiveRound: fc.constantFrom(1n, 2n, 3n, 2_000n),
        difficultySmoothingRounds: fc.bigInt(1n, 24n),
      }),
      (works, workPerThousandBlocks, configuration) => {
        const rounds = works.map((workUnits, index) => ({ roundId: BigInt(index + 1), workUnits }));
        const sums = { cumulativeWork: 5n, cumulativeBlockUnits: 7n, workPerThousandBlocks };
        const settled = settleRounds(sums, works, { maxWorkPerRound: 0n, ...configuration });
        const settledThroughRound = BigInt(works.length);
        expect(projectFrontier({ settledThroughRound: 0n, ...sums }, rounds, configuration)).toEqual({
          ...settled,
          settledThroughRound,
        });
        // Each batch reaches as far as its active rounds allow.
        const batches = splitIntoBatches(rounds, configuration.maxRoundsPerBatch);
        const active = rounds.filter(({ workUnits }) => workUnits > 0n);
        const most = Number(configuration.maxRoundsPerBatch);
        for (const [index, batch] of batches.entries()) {
          expect(batch.active).toEqual(active.slice(index * most, (index + 1) * most));
          const next = active[(index + 1) * most];
          expect(batch.throughRound).toBe(next === undefined ? settledThroughRound : next.roundId - 1n);
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(splitIntoBatches([], 16n)).toEqual([]);
});
