import { type Address, zeroAddress } from '../../../../actors/schemas/hex.ts';
import { burn, publishMetadata } from './collectionContract.ts';
import { type EconomyState, expect, type MinerPosition, type Transaction } from './contractState.ts';
import { findRound } from './coreContract.ts';
import { contracts, economySettings, scale } from './settings.ts';

/** `Mining.sol`: positions, their weights, and what checkpoints mint for them. */

const { blockUnitsPerBlock, levels, rewardPerBlock, supplyCap } = economySettings;

export function mintPosition({ state, timestamp, emit }: Transaction, owner: Address, tokenId: bigint): void {
  const [first] = levels;
  if (first === undefined) throw new Error('there is no first level');
  const firstRound = scheduleWeight(state, timestamp, first.weight);
  const nextMergeBlock = state.core.cumulativeBlockUnits / blockUnitsPerBlock + first.cooldownBlocks;
  state.mining.positions.set(tokenId, {
    level: 1,
    pendingRound: firstRound,
    nextMergeBlock,
    activeWeight: 0n,
    targetWeight: first.weight,
    accountedPerWeight: 0n,
    unclaimed: 0n,
  });
  const { weight } = first;
  emit('mining', 'PositionMinted', { owner, tokenId, weight, nextMergeBlock, firstRound });
}

/** Whether a position may be merged now. */
export function isMergeable(state: EconomyState, tokenId: bigint): boolean {
  const { pendingRound, nextMergeBlock, level } = accountPosition(state, tokenId);
  const height = state.core.cumulativeBlockUnits / blockUnitsPerBlock;
  return pendingRound === null && height >= nextMergeBlock && level < levels.length;
}

export function merge(
  transaction: Transaction,
  owner: Address,
  survivorTokenId: bigint,
  donorTokenId: bigint,
): void {
  const { state, timestamp, emit } = transaction;
  const { mining, core } = state;
  const areOwn = [survivorTokenId, donorTokenId].every(
    (token) => state.collection.owners.get(token) === owner,
  );
  expect(areOwn && survivorTokenId !== donorTokenId, 'NotMergeable');
  const [survivor, donor] = [accountPosition(state, survivorTokenId), accountPosition(state, donorTokenId)];
  expect(survivor.level === donor.level, 'NotMergeable');
  expect(isMergeable(state, survivorTokenId) && isMergeable(state, donorTokenId), 'NotMergeable');
  const next = levels[survivor.level];
  if (next === undefined) throw new Error(`there is no level above ${survivor.level}`);
  const activeWeight = survivor.activeWeight + donor.activeWeight;
  const effectiveRound = scheduleWeight(state, timestamp, next.weight - activeWeight);
  const merged = {
    ...survivor,
    level: survivor.level + 1,
    activeWeight,
    unclaimed: survivor.unclaimed + donor.unclaimed,
    targetWeight: next.weight,
    pendingRound: effectiveRound,
    nextMergeBlock: core.cumulativeBlockUnits / blockUnitsPerBlock + next.cooldownBlocks,
  };
  mining.positions.set(survivorTokenId, merged);
  mining.positions.delete(donorTokenId);
  burn(transaction, donorTokenId);
  publishMetadata(transaction, survivorTokenId);
  const { level, nextMergeBlock } = merged;
  emit('mining', 'PositionsMerged', {
    owner,
    survivorTokenId,
    donorTokenId,
    level,
    nextMergeBlock,
    effectiveRound,
  });
}

export function claim({ state, emit }: Transaction, owner: Address, tokenIds: readonly bigint[]): void {
  expect(tokenIds.length > 0 && BigInt(tokenIds.length) <= economySettings.claimLimit, 'TooManyTokens');
  expect(
    tokenIds.every((token) => state.collection.owners.get(token) === owner),
    'Unauthorized',
  );
  let amount = 0n;
  for (const tokenId of tokenIds) {
    const position = accountPosition(state, tokenId);
    const whole = position.unclaimed / scale;
    state.mining.positions.set(tokenId, { ...position, unclaimed: position.unclaimed - whole * scale });
    amount += whole;
  }
  state.mining.totalPaid += amount;
  emit('mining', 'RewardsClaimed', { owner, tokenIds, amount });
  emit('token', 'Transfer', { from: contracts.mining, to: owner, value: amount });
}

/** Mints for the settled rounds through one. */
export function checkpoint({ state, emit }: Transaction, throughRound: bigint): void {
  const { core, mining } = state;
  const afterRound = mining.processedThroughRound;
  expect(throughRound > afterRound && throughRound <= core.settledThroughRound, 'InvalidCheckpoint');
  const [blocksBefore, mintedBefore] = [mining.closedThroughBlock, mining.totalMinted];
  for (let round = mining.unminted[0]; round !== undefined && round.roundId <= throughRound; ) {
    activateThrough({ state, emit }, round.roundId);
    mintRound({ state, emit }, round.roundId, round.cumulativeBlockUnits / blockUnitsPerBlock);
    mining.lastMinted = round;
    mining.unminted = mining.unminted.slice(1);
    round = mining.unminted[0];
  }
  activateThrough({ state, emit }, throughRound);
  mining.processedThroughRound = throughRound;
  const amount = mining.totalMinted - mintedBefore;
  if (amount > 0n) emit('token', 'Transfer', { from: zeroAddress, to: contracts.mining, value: amount });
  emit('mining', 'Checkpointed', {
    afterRound,
    throughRound,
    completedBlockCount: mining.closedThroughBlock - blocksBefore,
    cumulativeWork: mining.lastMinted.cumulativeWork,
    cumulativeBlockUnits: mining.lastMinted.cumulativeBlockUnits,
    eligibleWeight: mining.totalWeight,
    amount,
    totalMinted: mining.totalMinted,
  });
}

function mintRound(
  { state: { mining }, emit }: Pick<Transaction, 'state' | 'emit'>,
  roundId: bigint,
  through: bigint,
) {
  const completedBlockCount = through - mining.closedThroughBlock;
  if (completedBlockCount === 0n) return;
  mining.closedThroughBlock = through;
  let amount = 0n;
  const { totalWeight: eligibleWeight } = mining;
  if (eligibleWeight > 0n) {
    const left = supplyCap - mining.totalMinted;
    amount = completedBlockCount * rewardPerBlock;
    if (amount > left) amount = left;
    mining.totalMinted += amount;
    mining.accumulatedPerWeight += (amount * scale) / eligibleWeight;
  }
  const { accumulatedPerWeight } = mining;
  emit('mining', 'RoundMinted', {
    roundId,
    completedBlockCount,
    eligibleWeight,
    amount,
    accumulatedPerWeight,
  });
}

function activateThrough(
  { state: { mining }, emit }: Pick<Transaction, 'state' | 'emit'>,
  throughRound: bigint,
) {
  for (let round = mining.activations[0]; round !== undefined && round <= throughRound; ) {
    mining.activations = mining.activations.slice(1);
    mining.totalWeight += mining.weightChanges.get(round) ?? 0n;
    mining.perWeightAtActivation.set(round, mining.accumulatedPerWeight);
    mining.lastActivationRound = round;
    const { totalWeight, accumulatedPerWeight } = mining;
    emit('mining', 'WeightActivated', { roundId: round, totalWeight, accumulatedPerWeight });
    round = mining.activations[0];
  }
}

/** A change of weight counts from the next round on. */
function scheduleWeight(state: EconomyState, timestamp: bigint, change: bigint): bigint {
  const { mining } = state;
  const round = findRound(state, timestamp) + 1n;
  const isKnown = mining.activations.includes(round) || mining.perWeightAtActivation.has(round);
  if (!isKnown) mining.activations = [...mining.activations, round];
  mining.weightChanges.set(round, (mining.weightChanges.get(round) ?? 0n) + change);
  return round;
}

/** A position with everything that is minted so far. */
export function accountPosition({ mining }: EconomyState, tokenId: bigint): MinerPosition {
  const stored = mining.positions.get(tokenId);
  if (stored === undefined) throw new Error(`there is no position ${tokenId}`);
  const position = { ...stored };
  let rewards = 0n;
  if (position.pendingRound !== null && position.pendingRound <= mining.lastActivationRound) {
    const atActivation = mining.perWeightAtActivation.get(position.pendingRound) ?? 0n;
    rewards = position.activeWeight * (atActivation - position.accountedPerWeight);
    position.activeWeight = position.targetWeight;
    position.accountedPerWeight = atActivation;
    position.pendingRound = null;
  }
  rewards += position.activeWeight * (mining.accumulatedPerWeight - position.accountedPerWeight);
  position.accountedPerWeight = mining.accumulatedPerWeight;
  position.unclaimed += rewards;
  return position;
}
