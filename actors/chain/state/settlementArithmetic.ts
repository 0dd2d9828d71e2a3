import { blockUnitScale } from './blockUnits.ts';
import type { CoreConfiguration } from './coreState.ts';

/** The core contract's largest factor of change of the difficulty in one settlement. */
const difficultyFactorMax = 4n;

export interface WorkedRound {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

/** The core's sums through a settled round. */
export interface Frontier {
  readonly settledThroughRound: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
}

type DifficultyConfiguration = Pick<
  CoreConfiguration,
  'maxRoundsPerBatch' | 'targetBlocksPerActiveRound' | 'difficultySmoothingRounds'
>;

/** A batch as the core settles it. `active` holds its rounds with work. */
interface Batch {
  readonly throughRound: bigint;
  readonly active: readonly WorkedRound[];
}

/**
 * Splits consecutive rounds into batches, each as long as its active rounds allow. The reporter of `npm start` does the same.
 */
export function splitIntoBatches(rounds: Iterable<WorkedRound>, activeRoundsMax: bigint): Batch[] {
  const batches: Batch[] = [];
  let active: WorkedRound[] = [];
  let throughRound: bigint | null = null;
  for (const round of rounds) {
    if (round.workUnits > 0n && BigInt(active.length) === activeRoundsMax && throughRound !== null) {
      batches.push({ throughRound, active });
      active = [];
    }
    if (round.workUnits > 0n) active.push(round);
    throughRound = round.roundId;
  }
  if (throughRound !== null) batches.push({ throughRound, active });
  return batches;
}

/** The frontier after a batch, by the steps of the core contract: integer division for each round, then the difficulty. */
export function settleBatch(
  frontier: Frontier,
  batch: Batch,
  configuration: DifficultyConfiguration,
): Frontier {
  let { cumulativeWork, cumulativeBlockUnits } = frontier;
  let workAdded = 0n;
  for (const { workUnits } of batch.active) {
    workAdded += workUnits;
    cumulativeWork += workUnits;
    cumulativeBlockUnits += (workUnits * blockUnitScale) / frontier.workPerThousandBlocks;
  }
  return {
    settledThroughRound: batch.throughRound,
    cumulativeWork,
    cumulativeBlockUnits,
    workPerThousandBlocks: nextDifficulty(
      frontier.workPerThousandBlocks,
      { workAdded, activeRounds: BigInt(batch.active.length) },
      configuration,
    ),
  };
}

/** The frontier after the given rounds, which follow it. */
export function projectFrontier(
  frontier: Frontier,
  rounds: Iterable<WorkedRound>,
  configuration: DifficultyConfiguration,
): Frontier {
  return splitIntoBatches(rounds, configuration.maxRoundsPerBatch).reduce(
    (reached, batch) => settleBatch(reached, batch, configuration),
    frontier,
  );
}

function nextDifficulty(
  difficulty: bigint,
  { workAdded, activeRounds }: { readonly workAdded: bigint; readonly activeRounds: bigint },
  {
    targetBlocksPerActiveRound,
    difficultySmoothingRounds: shares,
  }: Omit<DifficultyConfiguration, 'maxRoundsPerBatch'>,
): bigint {
  if (activeRounds === 0n) return difficulty;
  const moved = activeRounds < shares ? activeRounds : shares;
  const ideal = (workAdded * 1000n) / (activeRounds * targetBlocksPerActiveRound);
  const next = (difficulty * (shares - moved) + ideal * moved) / shares;
  const quarter = difficulty / difficultyFactorMax;
  const least = quarter > 1n ? quarter : 1n;
  const most = difficulty * difficultyFactorMax;
  if (next < least) return least;
  return next > most ? most : next;
}
