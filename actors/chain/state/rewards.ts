import { dayMs } from '../../schemas/durations.ts';
import type { ChainState } from './chainState.ts';
import type { MinerPosition, MiningState, WeightSegment } from './miningState.ts';

/** The mining contract's scale of rewards for one unit of weight. */
export const rewardScale = 10n ** 27n;
/** Number of UTC dates with shown earnings, including the safe block's date. */
const earningsDays = 7;

export function toUtcDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** Whether the weights of a position's pending round count by now. */
function isActivated(mining: MiningState, position: MinerPosition): boolean {
  return position.pending !== null && position.pending.round <= mining.lastActivationRound;
}

/** Moves a position's pending weight to its segments if it counts by now. The contract does the same at each access. */
export function activateWeight(mining: MiningState, position: MinerPosition): MinerPosition {
  const { pending } = position;
  if (pending === null || !isActivated(mining, position)) return position;
  const at = mining.perWeightAtActivation.get(pending.round.toString());
  if (at === undefined)
    throw new Error(`round ${pending.round} is activated, but its accumulated reward per weight is missing`);
  return {
    ...position,
    pending: null,
    segments: [...closeSegments(position.segments, at), openSegment(at, pending.weight)],
  };
}

export function openSegment(fromPerWeight: bigint, weight: bigint): WeightSegment {
  return { fromPerWeight, throughPerWeight: null, weight };
}

/** Closes open segments, and drops empty ones. */
export function closeSegments(segments: readonly WeightSegment[], throughPerWeight: bigint): WeightSegment[] {
  return segments.flatMap((segment) => {
    const through = segment.throughPerWeight ?? throughPerWeight;
    return through > segment.fromPerWeight ? [{ ...segment, throughPerWeight: through }] : [];
  });
}

export function computeActiveWeight({ segments }: MinerPosition): bigint {
  return segments.reduce((sum, one) => (one.throughPerWeight === null ? sum + one.weight : sum), 0n);
}

export function computeTargetWeight(position: MinerPosition): bigint {
  return position.pending?.weight ?? computeActiveWeight(position);
}

/** Earnings of a position until `accumulatedPerWeight` reached `perWeight` (base units, scaled by {@link rewardScale}). */
export function computeEarnedScaled({ segments }: MinerPosition, perWeight: bigint): bigint {
  let earned = 0n;
  for (const { fromPerWeight, throughPerWeight, weight } of segments) {
    const through = throughPerWeight === null || throughPerWeight > perWeight ? perWeight : throughPerWeight;
    if (through > fromPerWeight) earned += weight * (through - fromPerWeight);
  }
  return earned;
}

/** Rewards of one position at a state's block (base units, scaled by {@link rewardScale}). */
export interface PositionRewards {
  readonly earnedScaled: bigint;
  readonly unclaimedScaled: bigint;
  /** One for each of the last {@link earningsDays} UTC dates, oldest first. */
  readonly byDateScaled: readonly bigint[];
}

/** A date with `accumulatedPerWeight` at its start and end. */
export interface EarningsDate {
  readonly date: string;
  readonly perWeightAtStart: bigint;
  readonly perWeightAtEnd: bigint;
}

/** The last {@link earningsDays} UTC dates through the date of the state's block, oldest first. */
export function listEarningsDates({ block, mining }: ChainState): EarningsDate[] {
  const todayMs = Math.floor(block.timestampMs / dayMs) * dayMs;
  return Array.from({ length: earningsDays }, (_, index) => {
    const startMs = todayMs - (earningsDays - 1 - index) * dayMs;
    const date = toUtcDate(startMs);
    return {
      date,
      perWeightAtStart: findPerWeightAtEnd(mining, toUtcDate(startMs - dayMs)),
      perWeightAtEnd: findPerWeightAtEnd(mining, date),
    };
  });
}

function findPerWeightAtEnd({ perWeightByDate }: MiningState, date: string): bigint {
  return perWeightByDate.findLast((entry) => entry.date <= date)?.atEnd ?? 0n;
}

/** @param position a result of {@link activateWeight}. */
export function computeRewards(
  state: ChainState,
  position: MinerPosition,
  dates: readonly EarningsDate[],
): PositionRewards {
  const earnedScaled = computeEarnedScaled(position, state.mining.accumulatedPerWeight);
  return {
    earnedScaled,
    unclaimedScaled: earnedScaled - position.paidBaseUnits * rewardScale,
    byDateScaled: dates.map(
      ({ perWeightAtStart, perWeightAtEnd }) =>
        computeEarnedScaled(position, perWeightAtEnd) - computeEarnedScaled(position, perWeightAtStart),
    ),
  };
}
