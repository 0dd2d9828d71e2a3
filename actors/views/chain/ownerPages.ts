import { countWholeBlocks } from '../../chain/state/blockUnits.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import { findMergeState } from '../../chain/state/mergeState.ts';
import {
  activateWeight,
  computeActiveWeight,
  computeRewards,
  computeTargetWeight,
  type EarningsDate,
  listEarningsDates,
  type PositionRewards,
  rewardScale,
} from '../../chain/state/rewards.ts';

interface PositionsPage {
  /** All positions that are summed, ascending. */
  readonly tokenIds: readonly number[];
  readonly limit: number;
  /** Last token ID of the previous page; 0 for the first page. */
  readonly after: number;
}

type EvaluatedPosition = ReturnType<typeof evaluatePosition>;

/**
 * Positions at a state's block: their sums, and one page in order of token ID.
 *
 * @param hasMetadata whether a token's metadata is shown.
 */
export function buildPortfolioPage(
  state: ChainState,
  { tokenIds, limit, after }: PositionsPage,
  hasMetadata: (state: ChainState, tokenId: number) => boolean,
) {
  const dates = listEarningsDates(state);
  const evaluated = tokenIds.map((tokenId) => evaluatePosition(state, tokenId, dates));
  const sum = (selectAmount: (position: EvaluatedPosition) => bigint) =>
    evaluated.reduce((total, one) => total + selectAmount(one), 0n);
  const rest = evaluated.filter(({ position }) => position.tokenId > after);
  return {
    summary: {
      positionCount: BigInt(evaluated.length),
      activeWeight: sum(({ position }) => computeActiveWeight(position)),
      targetWeight: sum(({ position }) => computeTargetWeight(position)),
      // Scaled amounts are summed before they are cut to whole base units.
      claimableBaseUnits: sum(({ rewards }) => rewards.unclaimedScaled) / rewardScale,
      earnedBaseUnits: sum(({ rewards }) => rewards.earnedScaled) / rewardScale,
      earnedSevenDayBaseUnits: sum(({ rewards }) => sumSevenDays(rewards)) / rewardScale,
    },
    earnings: dates.map(({ date }, index) => ({
      date,
      earnedBaseUnits: sum(({ rewards }) => rewards.byDateScaled[index] as bigint) / rewardScale,
    })),
    positions: rest
      .slice(0, limit)
      .map((one) => toPositionView(state, one, hasMetadata(state, one.position.tokenId))),
    hasMore: rest.length > limit,
  };
}

export function evaluatePosition(state: ChainState, tokenId: number, dates: readonly EarningsDate[]) {
  const stored = state.minerPositions.get(tokenId);
  if (stored === undefined) throw new Error(`token ${tokenId} is owned but has no position`);
  const position = activateWeight(state.mining, stored);
  return { position, rewards: computeRewards(state, position, dates) };
}

function sumSevenDays({ byDateScaled }: PositionRewards): bigint {
  return byDateScaled.reduce((total, one) => total + one, 0n);
}

export function toPositionView(
  state: ChainState,
  { position, rewards }: EvaluatedPosition,
  hasMetadata: boolean,
) {
  const { pending, nextMergeBlock, level } = position;
  const blockHeight = countWholeBlocks(state.core.cumulativeBlockUnits);
  const maximumLevel = state.mining.configuration?.levels.length ?? 0;
  return {
    tokenId: BigInt(position.tokenId),
    level,
    activeWeight: computeActiveWeight(position),
    targetWeight: computeTargetWeight(position),
    pendingRound: pending?.round ?? null,
    pendingActivationSource: pending?.source ?? null,
    mergeState: findMergeState({
      level,
      maximumLevel,
      hasPendingWeight: pending !== null,
      nextMergeBlock,
      blockHeight,
    }),
    nextMergeBlock,
    blocksUntilMerge: nextMergeBlock > blockHeight ? nextMergeBlock - blockHeight : 0n,
    claimableBaseUnits: rewards.unclaimedScaled / rewardScale,
    earnedBaseUnits: rewards.earnedScaled / rewardScale,
    earnedSevenDayBaseUnits: sumSevenDays(rewards) / rewardScale,
    ownershipStartedAtMs: position.ownershipStartedAtMs,
    metadataStatus: hasMetadata ? ('available' as const) : ('unavailable' as const),
  };
}
