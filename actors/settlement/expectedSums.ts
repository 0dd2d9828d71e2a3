import { blockUnitsPerBlock, countWholeBlocks } from '../chain/blockUnits.ts';
import { difficultyFactorMax } from '../chain/settlementArithmetic.ts';
import { uint64Max } from '../schemas/wireScalars.ts';
import { blockUnitScale, roundWorkMax, workPerThousandBlocksMax } from './coreBounds.ts';

/** The core's sums after a batch, as its reporter expects them. */
export interface ExpectedSums {
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
  readonly completedBlockCount: bigint;
}

/** A batch as a prepared submission describes it. */
export interface ExpectedBatch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: ExpectedSums;
}

interface Range {
  readonly least: bigint;
  readonly most: bigint;
}

/**
 * Why no batch can leave these sums behind by the core contract's arithmetic; null when one can.
 *
 * The message does not say what its rounds held, nor the difficulty that they were settled at, so each is only known to lie
 * in a range: the batch's work between one unit for each active round and all work so far, the difficulty before within the
 * factor that one batch may move it by, the added block units between those that complete the given blocks. Sums are
 * impossible when the ranges leave nothing to choose. Whether they are those of the rounds that the oracle closed is
 * not tested: two publishers may disagree, and neither is believed over the other.
 */
export function findImpossibility(batch: ExpectedBatch): string | null {
  const { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks, completedBlockCount } = batch.expected;
  const blockHeight = countWholeBlocks(cumulativeBlockUnits);
  if (blockHeight > uint64Max) return `block height ${blockHeight}, at most 2^64 - 1 is possible`;
  if (workPerThousandBlocks > workPerThousandBlocksMax) {
    return `${workPerThousandBlocks} work units for 1,000 blocks, at most 2^64 - 1 for one are possible`;
  }
  if (completedBlockCount > blockHeight) {
    return `${completedBlockCount} completed blocks, at most the block height of ${blockHeight} is possible`;
  }
  const work = boundAddedWork(batch);
  if (work.least > work.most) {
    return `${batch.activeRoundCount} active rounds from round ${batch.previousSettledThroughRound} cannot add up to cumulative work of ${cumulativeWork}`;
  }
  const possible = boundAddedUnits(work, batch);
  const claimed = boundCompletingUnits(completedBlockCount, cumulativeBlockUnits);
  // Before the first settled round there was nothing: all block units are those of this batch.
  const least =
    batch.previousSettledThroughRound === 0n && cumulativeBlockUnits > claimed.least
      ? cumulativeBlockUnits
      : claimed.least;
  if (least > claimed.most || least > possible.most || claimed.most < possible.least) {
    return (
      `${completedBlockCount} completed blocks of ${cumulativeBlockUnits} block units take ${least} to ${claimed.most} block units, ` +
      `${batch.activeRoundCount} active rounds make ${possible.least} to ${possible.most}`
    );
  }
  return null;
}

/** Work of the batch: every active round holds some, and all of it was done in the batch when nothing came before it. */
function boundAddedWork({ previousSettledThroughRound, activeRoundCount, expected }: ExpectedBatch): Range {
  const active = BigInt(activeRoundCount);
  const { cumulativeWork } = expected;
  const isFirst = previousSettledThroughRound === 0n;
  return {
    least: isFirst && cumulativeWork > active ? cumulativeWork : active,
    most: min(cumulativeWork, active * roundWorkMax),
  };
}

/** Block units of so much work: each active round is divided by the difficulty before the batch, and rounded down. */
function boundAddedUnits(work: Range, { activeRoundCount, expected }: ExpectedBatch): Range {
  if (activeRoundCount === 0) return { least: 0n, most: 0n };
  const { workPerThousandBlocks } = expected;
  const easiest = (workPerThousandBlocks + difficultyFactorMax - 1n) / difficultyFactorMax;
  // The core divides the old difficulty by the factor and rounds down.
  const hardest = workPerThousandBlocks * difficultyFactorMax + difficultyFactorMax - 1n;
  const lostToRounding = BigInt(activeRoundCount) - 1n;
  const least = (work.least * blockUnitScale) / hardest - lostToRounding;
  return { least: least > 0n ? least : 0n, most: (work.most * blockUnitScale) / easiest };
}

/** Block units that complete just so many blocks when they are added last. */
function boundCompletingUnits(completedBlockCount: bigint, cumulativeBlockUnits: bigint): Range {
  const most = completedBlockCount * blockUnitsPerBlock + (cumulativeBlockUnits % blockUnitsPerBlock);
  const least = most - blockUnitsPerBlock + 1n;
  return { least: least > 0n ? least : 0n, most };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
