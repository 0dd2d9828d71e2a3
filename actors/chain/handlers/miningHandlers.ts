import type { EventOf } from '../spans/chainEvent.ts';
import type { ChainState } from '../state/chainState.ts';
import type { MinerPosition } from '../state/miningState.ts';
import {
  activateWeight,
  closeSegments,
  computeActiveWeight,
  computeEarnedScaled,
  openSegment,
  rewardScale,
  toUtcDate,
} from '../state/rewards.ts';
import { recentRoundsShown } from '../state/settlements.ts';
import { type EventHandlers, ignoreEvent, readImplementation } from './eventHandlers.ts';
import {
  absentMembers,
  requirePosition,
  withActivity,
  withoutToken,
  withPayment,
  withToken,
} from './ownerRecords.ts';

export const miningHandlers: EventHandlers<'mining'> = {
  MiningConfigured: (state, { args }) => {
    const { weights, cooldownBlocks: cooldowns, ...rest } = args;
    const levels = weights.map((weight, index) => {
      const cooldownBlocks = cooldowns[index];
      if (cooldownBlocks === undefined) throw new Error(`level ${index + 1} has a weight but no cooldown`);
      return { weight, cooldownBlocks };
    });
    return { ...state, mining: { ...state.mining, configuration: { ...rest, levels } } };
  },
  VersionActivated: (state, event) => ({
    ...state,
    mining: { ...state.mining, implementation: readImplementation(event) },
  }),
  PositionMinted: mintPosition,
  PositionsMerged: mergePositions,
  RewardsClaimed: claimRewards,
  WeightActivated: (state, { args }) => {
    const { roundId, totalWeight, accumulatedPerWeight } = args;
    const { mining } = state;
    return {
      ...state,
      mining: {
        ...mining,
        totalWeight,
        lastActivationRound: roundId,
        perWeightAtActivation: mining.perWeightAtActivation.set(roundId.toString(), accumulatedPerWeight),
        pendingWeight: mining.pendingWeight.delete(roundId.toString()),
      },
    };
  },
  RoundMinted: mintRound,
  Checkpointed: (state, { args, source }) => {
    const { amount: amountBaseUnits, totalMinted: totalMintedBaseUnits, ...rest } = args;
    const { throughRound } = args;
    const checkpoint = { source, ...rest, amountBaseUnits, totalMintedBaseUnits };
    const processed = state.unprocessedRounds.takeWhile(({ roundId }) => roundId <= throughRound);
    return {
      ...state,
      checkpoints: state.checkpoints.push(checkpoint),
      unprocessedRounds: state.unprocessedRounds.skip(processed.size),
      mining: {
        ...state.mining,
        processedThroughRound: throughRound,
        processedBlockUnits: checkpoint.cumulativeBlockUnits,
        mintedBaseUnits: checkpoint.totalMintedBaseUnits,
      },
    };
  },
  AdminChanged: ignoreEvent,
  Initialized: ignoreEvent,
  Upgraded: ignoreEvent,
};

function mintPosition(
  state: ChainState,
  { args, address, source }: EventOf<'mining', 'PositionMinted'>,
): ChainState {
  const { owner, firstRound: round, weight, nextMergeBlock } = args;
  const tokenId = Number(args.tokenId);
  if (state.minerPositions.has(tokenId)) throw new Error(`token ${tokenId} has a position already`);
  const position: MinerPosition = {
    tokenId,
    owner,
    ownershipStartedAtMs: source.blockTimestampMs,
    level: 1,
    pending: { round, source: 'mint', weight },
    nextMergeBlock,
    segments: [],
    paidBaseUnits: 0n,
  };
  const weighted = withToken(withPendingWeight(state, round, weight), owner, tokenId);
  const minerPositions = weighted.minerPositions.set(tokenId, position);
  return withActivity({ ...weighted, minerPositions }, [owner], {
    ...absentMembers,
    kind: 'mint',
    address,
    tokenIds: [BigInt(tokenId)],
    to: owner,
    level: 1,
    effectiveRound: round,
    nextMergeBlock,
    source,
  });
}

function mergePositions(
  state: ChainState,
  { args, address, source }: EventOf<'mining', 'PositionsMerged'>,
): ChainState {
  const { owner, level, effectiveRound, nextMergeBlock } = args;
  const survivorId = Number(args.survivorTokenId);
  const donorId = Number(args.donorTokenId);
  const { mining } = state;
  const survivor = activateWeight(mining, requirePosition(state, survivorId));
  const donor = activateWeight(mining, requirePosition(state, donorId));
  const combined = computeActiveWeight(survivor) + computeActiveWeight(donor);
  const weight = mining.configuration?.levels[level - 1]?.weight;
  if (weight === undefined) throw new Error(`level ${level} has no configured weight`);
  const now = mining.accumulatedPerWeight;
  const merged: MinerPosition = {
    ...survivor,
    level,
    pending: { round: effectiveRound, source: 'merge', weight },
    nextMergeBlock,
    segments: [
      ...closeSegments(survivor.segments, now),
      ...closeSegments(donor.segments, now),
      openSegment(now, combined),
    ],
    paidBaseUnits: survivor.paidBaseUnits + donor.paidBaseUnits,
  };
  const updated = withoutToken(withPendingWeight(state, effectiveRound, weight - combined), owner, donorId);
  const minerPositions = updated.minerPositions.set(survivorId, merged).delete(donorId);
  const metadata = updated.collection.metadata.delete(donorId);
  return withActivity(
    { ...updated, minerPositions, collection: { ...updated.collection, metadata } },
    [owner],
    {
      ...absentMembers,
      kind: 'merge',
      address,
      tokenIds: [BigInt(survivorId), BigInt(donorId)],
      level,
      effectiveRound,
      nextMergeBlock,
      source,
    },
  );
}

/** A claim pays the whole base units of each position. The fraction stays with the position. */
function claimRewards(
  state: ChainState,
  { args, address, source }: EventOf<'mining', 'RewardsClaimed'>,
): ChainState {
  const { owner, tokenIds, amount: amountBaseUnits } = args;
  const { mining } = state;
  let { minerPositions } = state;
  for (const tokenId of tokenIds) {
    const position = activateWeight(mining, requirePosition({ ...state, minerPositions }, Number(tokenId)));
    const paidBaseUnits = computeEarnedScaled(position, mining.accumulatedPerWeight) / rewardScale;
    minerPositions = minerPositions.set(position.tokenId, { ...position, paidBaseUnits });
  }
  const paid = { ...mining, paidBaseUnits: mining.paidBaseUnits + amountBaseUnits };
  const claimed = withPayment({ ...state, minerPositions, mining: paid }, owner, amountBaseUnits);
  return withActivity(claimed, [owner], {
    ...absentMembers,
    kind: 'claim',
    address,
    tokenIds,
    amountBaseUnits,
    to: owner,
    source,
  });
}

function mintRound(state: ChainState, { args, source }: EventOf<'mining', 'RoundMinted'>): ChainState {
  const { roundId, amount: amountBaseUnits, accumulatedPerWeight } = args;
  const { mining } = state;
  if (roundId <= (state.mintedRounds.last()?.roundId ?? 0n))
    throw new Error(`round ${roundId} is minted already, or one after it`);
  const entry = { date: toUtcDate(source.blockTimestampMs), atEnd: accumulatedPerWeight };
  const isSameDate = mining.perWeightByDate.last()?.date === entry.date;
  const earlier = isSameDate ? mining.perWeightByDate.pop() : mining.perWeightByDate;
  const index = state.settlements.findLastIndex(
    (one) => one.previousSettledThroughRound < roundId && roundId <= one.settledThroughRound,
  );
  const settlement = state.settlements.get(index);
  // `get` would count a negative index from the end.
  if (index < 0 || settlement === undefined) throw new Error(`round ${roundId} was minted but never settled`);
  return {
    ...state,
    mintedRounds: state.mintedRounds.push({ roundId, amountBaseUnits }).takeLast(recentRoundsShown),
    settlements: state.settlements.set(index, {
      ...settlement,
      mintedBaseUnits: settlement.mintedBaseUnits + amountBaseUnits,
    }),
    mining: {
      ...mining,
      accumulatedPerWeight,
      closedThroughBlock: mining.closedThroughBlock + args.completedBlockCount,
      perWeightByDate: earlier.push(entry),
    },
  };
}

function withPendingWeight(state: ChainState, round: bigint, change: bigint): ChainState {
  const pendingWeight = state.mining.pendingWeight.update(round.toString(), 0n, (sum) => sum + change);
  return { ...state, mining: { ...state.mining, pendingWeight } };
}
