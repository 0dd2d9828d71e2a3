import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settleBatch, splitIntoBatches } from '../../../actors/chain/state/settlementArithmetic.ts';

describe('the arithmetic of settlements', () => {
  it.each([
    ['at least one', 3n, 1n, 1n],
    ['at least a quarter', 100n, 1n, 25n],
    ['at most four times as much', 100n, 1_000_000n, 400n],
    ['half way to the ideal', 100n, 400n, 150n],
  ])('makes the difficulty %s', (_, workPerThousandBlocks, workUnits, expected) => {
    const frontier = {
      settledThroughRound: 0n,
      cumulativeWork: 0n,
      cumulativeBlockUnits: 0n,
      workPerThousandBlocks,
    };
    const batch = { throughRound: 1n, active: [{ roundId: 1n, workUnits }] };
    const configuration = {
      maxRoundsPerBatch: 16n,
      targetBlocksPerActiveRound: 2_000n,
      difficultySmoothingRounds: expected === 150n ? 2n : 1n,
    };
    expect(settleBatch(frontier, batch, configuration).workPerThousandBlocks).toBe(expected);
  });

  it('splits rounds into batches of at most sixteen active rounds, and leaves none out', () => {
    const works = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(works, fc.integer({ min: 1, max: 16 }), (given, most) => {
        const rounds = given.map((work, index) => ({ roundId: BigInt(index + 1), workUnits: BigInt(work) }));
        const batches = splitIntoBatches(rounds, BigInt(most));
        expect(batches.at(-1)?.throughRound).toBe(BigInt(given.length));
        expect(batches.flatMap(({ active }) => active)).toEqual(
          rounds.filter(({ workUnits }) => workUnits > 0n),
        );
        let previous = 0n;
        for (const { throughRound, active } of batches) {
          expect(throughRound).toBeGreaterThan(previous);
          expect(active.length).toBeLessThanOrEqual(most);
          expect(active.every(({ roundId }) => roundId > previous && roundId <= throughRound)).toBe(true);
          previous = throughRound;
        }
      }),
    );
  });
});
