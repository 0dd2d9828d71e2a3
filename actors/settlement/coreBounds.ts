import { blockUnitsPerBlock, countWholeBlocks } from '../chain/blockUnits.ts';
import type { Frontier } from '../chain/settlementArithmetic.ts';
import { uint64Max, uint256Max } from '../schemas/wireScalars.ts';

/** Block units of one work unit at a difficulty of one (the core contract's `blockUnitsOf`). */
export const blockUnitScale = blockUnitsPerBlock * 1000n;

/** Most work that the core can settle for a round: it multiplies by the scale before it divides, within a uint256. */
export const roundWorkMax = uint256Max / blockUnitScale;

/** Most work for 1,000 blocks whose rounded work for one block is a uint64 (CONTRACT.md, Cross-field rules, 2). */
export const workPerThousandBlocksMax = uint64Max * 1000n;

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
