import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settleBatch } from '../../actors/chain/state/settlementArithmetic.ts';
import { type DifficultyBatch, findDifficulties } from '../../actors/views/difficultyViews.ts';

const configuration = fc.record({
  targetBlocksPerActiveRound: fc.bigInt({ min: 1n, max: 10n }),
  difficultySmoothingRounds: fc.bigInt({ min: 1n, max: 300n }),
  maxRoundsPerBatch: fc.constant(100n),
});

/** Work of the rounds of batches: none, little, or much. */
const works = fc.array(fc.array(fc.bigInt({ min: 1n, max: 1_000_000n }), { maxLength: 8 }), {
  minLength: 1,
  maxLength: 30,
});

const unknown = { initial: null, final: null };

/** Settles batches as the core does. */
function settle(
  rounds: readonly (readonly bigint[])[],
  initial: bigint,
  settings: Parameters<typeof settleBatch>[2],
) {
  let frontier = {
    settledThroughRound: 0n,
    cumulativeWork: 0n,
    cumulativeBlockUnits: 0n,
    workPerThousandBlocks: initial,
  };
  const batches: DifficultyBatch[] = [];
  const after: bigint[] = [];
  for (const works of rounds) {
    const active = works.map((workUnits, index) => ({ roundId: BigInt(index), workUnits }));
    const next = settleBatch(frontier, { throughRound: 0n, active }, settings);
    batches.push({
      activeRoundCount: BigInt(works.length),
      workAdded: next.cumulativeWork - frontier.cumulativeWork,
      addedBlockUnits: next.cumulativeBlockUnits - frontier.cumulativeBlockUnits,
    });
    after.push(next.workPerThousandBlocks);
    frontier = next;
  }
  return { batches, after };
}

describe('the difficulty after batches', () => {
  it('is what the core has set, or unknown, in any part of the history', () => {
    fc.assert(
      fc.property(
        works,
        fc.nat(29),
        fc.bigInt({ min: 1n, max: 10n ** 9n }),
        configuration,
        (rounds, from, initial, settings) => {
          const { batches, after } = settle(rounds, initial, settings);
          const found = findDifficulties(batches.slice(from), unknown, settings);
          expect(found.map((one, index) => one ?? after[from + index])).toEqual(after.slice(from));
        },
      ),
    );
  });

  it('is unknown if no batch has work, or none fits', () => {
    const settings = {
      targetBlocksPerActiveRound: 3n,
      difficultySmoothingRounds: 144n,
      maxRoundsPerBatch: 100n,
    };
    const empty = { activeRoundCount: 0n, workAdded: 0n, addedBlockUnits: 0n };
    expect(findDifficulties([empty, empty], unknown, settings)).toEqual([null, null]);
    expect(findDifficulties([empty, empty], { initial: null, final: 5n }, settings)).toEqual([5n, 5n]);
    const wrong = { activeRoundCount: 1n, workAdded: 7n, addedBlockUnits: 5_000_000_000_000n };
    expect(findDifficulties([wrong], { initial: 3n, final: null }, settings)).toEqual([null]);
  });
});
