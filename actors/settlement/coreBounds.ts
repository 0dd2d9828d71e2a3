import type { SubmissionBatch } from '../../machines/submission.ts';
import { blockUnitScale, countWholeBlocks } from '../chain/state/blockUnits.ts';
import type { Frontier } from '../chain/state/settlementArithmetic.ts';
import { uint64Max, uint256Max } from '../schemas/wireScalars.ts';

/** The largest work that the core can settle for a round. It multiplies by the scale before it divides, within a uint256. */
export const roundWorkMax = uint256Max / blockUnitScale;

/** The largest work for 1,000 blocks, since the work for one block must be a uint64. */
const workPerThousandBlocksMax = uint64Max * 1000n;

/**
 * Explains why the routes could not show these sums; null if they can. It does not judge whether a core could compute them,
 * because a core's arithmetic may change.
 */
export function explainBoundsExceeded(expected: SubmissionBatch['expected']): string | null {
  const { cumulativeBlockUnits, workPerThousandBlocks, completedBlockCount } = expected;
  const blockHeight = countWholeBlocks(cumulativeBlockUnits);
  if (blockHeight > uint64Max)
    return `expected.cumulativeBlockUnits: expected at most 2^64 - 1 blocks, given ${blockHeight}`;
  if (workPerThousandBlocks > workPerThousandBlocksMax)
    return `expected.workPerThousandBlocks: expected at most 1,000 times 2^64 - 1, given ${workPerThousandBlocks}`;
  if (completedBlockCount > blockHeight)
    return `expected.completedBlockCount: expected at most the block height of ${blockHeight}, given ${completedBlockCount}`;
  return null;
}

/** Whether the sums are within the uint256 and uint64 that the core holds and the contract of the routes shows. */
export function isWithinBounds(frontier: Frontier): boolean {
  const { settledThroughRound, cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks } = frontier;
  return (
    settledThroughRound <= uint64Max &&
    cumulativeWork <= uint256Max &&
    countWholeBlocks(cumulativeBlockUnits) <= uint64Max &&
    workPerThousandBlocks <= workPerThousandBlocksMax
  );
}
