import { type ChainState, countWholeBlocks, type OwnerEvent, type Position } from '../chain/chainState.ts';
import { findMergeState } from '../chain/mergeState.ts';
import {
  activateWeight,
  computeActiveWeight,
  computeRewards,
  computeTargetWeight,
  type EarningsDate,
  listEarningsDates,
  type PositionRewards,
  rewardScale,
} from '../chain/rewards.ts';
import type { PortfolioView, PositionView } from './chainViewTypes.ts';

interface EvaluatedPosition {
  readonly position: Position;
  readonly rewards: PositionRewards;
}

/**
 * An owner's positions at a state's block: the sums of all, and one page in order of token ID.
 *
 * @param hasMetadata whether a token's metadata is shown.
 */
export function buildPortfolioPage(
  state: ChainState,
  owner: string,
  afterTokenId: number,
  limit: number,
  hasMetadata: (state: ChainState, tokenId: number) => boolean,
): Pick<PortfolioView, 'summary' | 'earnings' | 'positions'> & { readonly hasMore: boolean } {
  const dates = listEarningsDates(state);
  const evaluated = (state.owners.get(owner)?.tokenIds ?? []).map((tokenId) =>
    evaluatePosition(state, tokenId, dates),
  );
  const sum = (selectAmount: (position: EvaluatedPosition) => bigint) =>
    evaluated.reduce((total, one) => total + selectAmount(one), 0n);
  const rest = evaluated.filter(({ position }) => position.tokenId > afterTokenId);
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

/** Newest first, behind the `shown` newest ones. */
export function buildActivityPage(
  state: ChainState,
  owner: string,
  shown: number,
  limit: number,
): { readonly total: bigint; readonly activity: readonly OwnerEvent[]; readonly hasMore: boolean } {
  const all = state.owners.get(owner)?.activity;
  const total = all?.size ?? 0;
  const end = Math.max(0, total - shown);
  const activity =
    all
      ?.slice(Math.max(0, end - limit), end)
      .reverse()
      .toArray() ?? [];
  return { total: BigInt(total), activity, hasMore: end > limit };
}

function evaluatePosition(
  state: ChainState,
  tokenId: number,
  dates: readonly EarningsDate[],
): EvaluatedPosition {
  const stored = state.positions.get(tokenId);
  if (stored === undefined) throw new Error(`token ${tokenId} is owned and has no position`);
  const position = activateWeight(state.mining, stored);
  return { position, rewards: computeRewards(state, position, dates) };
}

function sumSevenDays({ byDateScaled }: PositionRewards): bigint {
  return byDateScaled.reduce((total, one) => total + one, 0n);
}

function toPositionView(
  state: ChainState,
  { position, rewards }: EvaluatedPosition,
  hasMetadata: boolean,
): PositionView {
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
    metadataStatus: hasMetadata ? 'available' : 'unavailable',
  };
}
