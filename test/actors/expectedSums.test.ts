import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countWholeBlocks } from '../../actors/chain/blockUnits.ts';
import { type Frontier, settleBatch } from '../../actors/chain/settlementArithmetic.ts';
import { type ExpectedBatch, findImpossibility } from '../../actors/settlement/expectedSums.ts';

/** A batch of two rounds of 450 units after a first one of 900, at a difficulty of 900 units a block. */
const possible: ExpectedBatch = {
  previousSettledThroughRound: 1n,
  settledThroughRound: 3n,
  activeRoundCount: 2,
  expected: {
    cumulativeWork: 1_800n,
    cumulativeBlockUnits: 2_000_000_000n,
    workPerThousandBlocks: 900_000n,
    completedBlockCount: 1n,
  },
};

function changeBatch(
  batch: Partial<ExpectedBatch>,
  expected: Partial<ExpectedBatch['expected']>,
): ExpectedBatch {
  return { ...possible, ...batch, expected: { ...possible.expected, ...expected } };
}

describe('the sums that a submission expects', () => {
  it.each<[string, Partial<ExpectedBatch>, Partial<ExpectedBatch['expected']>]>([
    ['more completed blocks than the height', {}, { completedBlockCount: 3n }],
    [
      'a height of 2^64',
      {},
      { cumulativeWork: 2n ** 100n, cumulativeBlockUnits: 2n ** 64n * 1_000_000_000n },
    ],
    ['a difficulty above 2^64 - 1 a block', {}, { workPerThousandBlocks: 2n ** 64n * 1_000n }],
    ['fewer work units than active rounds', {}, { cumulativeWork: 1n }],
    ['completed blocks without an active round', { activeRoundCount: 0 }, {}],
    ['work before the first settled round', { previousSettledThroughRound: 0n }, {}],
    [
      'work without an active round before the first settled round',
      { previousSettledThroughRound: 0n, activeRoundCount: 0 },
      { cumulativeBlockUnits: 0n, completedBlockCount: 0n },
    ],
    [
      'more blocks than all work makes at the easiest difficulty',
      {},
      { cumulativeWork: 224n, completedBlockCount: 2n },
    ],
    [
      'fewer block units than the least work makes at the hardest difficulty',
      {},
      { workPerThousandBlocks: 200n, completedBlockCount: 0n },
    ],
    [
      'rounds whose work the core cannot multiply',
      { previousSettledThroughRound: 0n, activeRoundCount: 1 },
      { cumulativeWork: 2n ** 220n, workPerThousandBlocks: 2n ** 73n, completedBlockCount: 2n },
    ],
  ])('are impossible with %s', (_, batch, expected) => {
    expect(findImpossibility(possible)).toBeNull();
    expect(findImpossibility(changeBatch(batch, expected))).not.toBeNull();
  });

  it('are possible whenever the core contract’s arithmetic leaves them behind', () => {
    const digits = (max: number) =>
      fc
        .tuple(fc.integer({ min: 0, max }), fc.bigInt({ min: 1n, max: 9n }))
        .map(([e, d]) => d * 10n ** BigInt(e));
    const batch = fc.record({
      works: fc.array(fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: 5_000n }), digits(9)), {
        minLength: 1,
        maxLength: 16,
      }),
      emptyRounds: fc.integer({ min: 0, max: 3 }),
    });
    const world = fc.record({
      initialWorkPerThousandBlocks: digits(9),
      targetBlocksPerActiveRound: fc.bigInt({ min: 1n, max: 100n }),
      difficultySmoothingRounds: fc.bigInt({ min: 1n, max: 48n }),
      batches: fc.array(batch, { minLength: 1, maxLength: 12 }),
    });
    fc.assert(
      fc.property(world, ({ initialWorkPerThousandBlocks, batches, ...configuration }) => {
        let frontier: Frontier = {
          settledThroughRound: 0n,
          cumulativeWork: 0n,
          cumulativeBlockUnits: 0n,
          workPerThousandBlocks: initialWorkPerThousandBlocks,
        };
        for (const { works, emptyRounds } of batches) {
          const throughRound = frontier.settledThroughRound + BigInt(works.length + emptyRounds);
          const active = works.filter((work) => work > 0n).map((workUnits) => ({ roundId: 1n, workUnits }));
          const after = settleBatch(
            frontier,
            { throughRound, active },
            { ...configuration, maxRoundsPerBatch: 16n },
          );
          const completedBlockCount =
            countWholeBlocks(after.cumulativeBlockUnits) - countWholeBlocks(frontier.cumulativeBlockUnits);
          const { settledThroughRound, ...sums } = after;
          const expected = { ...sums, completedBlockCount };
          const described = {
            previousSettledThroughRound: frontier.settledThroughRound,
            settledThroughRound,
            activeRoundCount: active.length,
          };
          expect(findImpossibility({ ...described, expected })).toBeNull();
          // No other number of completed blocks is right for the first batch.
          if (described.previousSettledThroughRound === 0n) {
            for (const other of [completedBlockCount + 1n, completedBlockCount - 1n]) {
              const wrong = { ...expected, completedBlockCount: other };
              if (other >= 0n) expect(findImpossibility({ ...described, expected: wrong })).not.toBeNull();
            }
          }
          frontier = after;
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
