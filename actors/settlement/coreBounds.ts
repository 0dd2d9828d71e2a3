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
  if (blockHeight > uint64Max) return `block height ${blockHeight}, expected at most 2^64 - 1`;
  if (workPerThousandBlocks > workPerThousandBlocksMax)
    return `${workPerThousandBlocks} work units for 1,000 blocks, expected at most 2^64 - 1 for each`;
  if (completedBlockCount > blockHeight)
    return `${completedBlockCount} completed blocks, expected at most the block height of ${blockHeight}`;
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
