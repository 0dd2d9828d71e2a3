import { uint64Max, uint256Max } from './messages.ts';

/** CONTRACT.md, Frontiers and Work to blocks. */

export const blockUnitsPerBlock = 1_000_000_000n;

/** The core's sums. */
export interface CoreSums {
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
}

export interface CoreConfiguration {
  readonly maxWorkPerRound: bigint;
  readonly maxRoundsPerBatch: bigint;
  readonly targetBlocksPerActiveRound: bigint;
  readonly difficultySmoothingRounds: bigint;
}

const findWorkPerBlock = (workPerThousandBlocks: bigint) => max((workPerThousandBlocks + 999n) / 1000n, 1n);
export const findHeight = ({ cumulativeBlockUnits }: CoreSums) => cumulativeBlockUnits / blockUnitsPerBlock;

/** CONTRACT.md, Frontiers: what the sums say about blocks. */
export function measureBlocks(sums: CoreSums) {
  const blockProgress = sums.cumulativeBlockUnits % blockUnitsPerBlock;
  const workPerBlock = findWorkPerBlock(sums.workPerThousandBlocks);
  return {
    blockHeight: findHeight(sums),
    blockProgress,
    workPerBlock,
    currentWork: (blockProgress * workPerBlock) / blockUnitsPerBlock,
  };
}

/** MESSAGES.md, Expected sums: a height and a work per block of uint64, sums of uint256. */
export function isWithinBounds(sums: CoreSums): boolean {
  return (
    sums.cumulativeWork <= uint256Max &&
    sums.cumulativeBlockUnits <= uint256Max &&
    findHeight(sums) <= uint64Max &&
    findWorkPerBlock(sums.workPerThousandBlocks) <= uint64Max
  );
}

/** The sums after batches settled consecutive rounds with these amounts of work. */
export function settleRounds(
  sums: CoreSums,
  works: readonly bigint[],
  configuration: CoreConfiguration,
): CoreSums {
  const active = works.filter((work) => work > 0n);
  const most = Number(configuration.maxRoundsPerBatch);
  let reached = sums;
  for (let from = 0; from < active.length; from += most)
    reached = settleBatch(reached, active.slice(from, from + most), configuration);
  return reached;
}

/** The sums after one batch with the work of its active rounds. */
function settleBatch(sums: CoreSums, active: readonly bigint[], configuration: CoreConfiguration): CoreSums {
  const difficulty = sums.workPerThousandBlocks;
  let { cumulativeWork, cumulativeBlockUnits } = sums;
  let workAdded = 0n;
  for (const work of active) {
    workAdded += work;
    cumulativeWork += work;
    cumulativeBlockUnits += (work * blockUnitsPerBlock * 1000n) / difficulty;
  }
  const batch = { workAdded, activeRounds: BigInt(active.length) };
  const workPerThousandBlocks = adjustDifficulty(difficulty, batch, configuration);
  return { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks };
}

/** The difficulty after a batch. It moves towards the difficulty that would have given the targeted blocks, by a factor of at most four. */
export function adjustDifficulty(
  difficulty: bigint,
  { workAdded, activeRounds }: { readonly workAdded: bigint; readonly activeRounds: bigint },
  {
    difficultySmoothingRounds: shares,
    targetBlocksPerActiveRound,
  }: Pick<CoreConfiguration, 'difficultySmoothingRounds' | 'targetBlocksPerActiveRound'>,
): bigint {
  if (activeRounds === 0n) return difficulty;
  const moved = min(activeRounds, shares);
  const ideal = (workAdded * 1000n) / (activeRounds * targetBlocksPerActiveRound);
  const next = (difficulty * (shares - moved) + ideal * moved) / shares;
  return min(max(next, max(1n, difficulty / 4n)), 4n * difficulty);
}

/** Work blocks above one height and up to another. */
export function describeCompleted(completedBlockCount: bigint, height: bigint) {
  const isAny = completedBlockCount > 0n;
  return {
    firstCompletedBlock: isAny ? height - completedBlockCount + 1n : null,
    lastCompletedBlock: isAny ? height : null,
    completedBlockCount,
  };
}

export const min = (a: bigint, b: bigint) => (a < b ? a : b);
export const max = (a: bigint, b: bigint) => (a > b ? a : b);
