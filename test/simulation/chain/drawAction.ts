import type { Address } from '../../../actors/schemas/hex.ts';
import type { Random } from '../world/random.ts';
import {
  advanceMetadataEpoch,
  mint,
  mintReserve,
  pauseCollection,
  publishMetadata,
  transfer,
  unpauseCollection,
} from './contracts/collectionContract.ts';
import { type EconomyState, expect, type Transaction } from './contracts/contractState.ts';
import { findRound, pauseCore, settle, unpauseCore } from './contracts/coreContract.ts';
import { checkpoint, claim, isMergeable, merge } from './contracts/miningContract.ts';
import { economySettings, owners } from './contracts/settings.ts';
import { cancelUpgrade, executeUpgrade, scheduleUpgrade } from './contracts/upgrades.ts';

/** An action on the contracts. Its transaction is reverted if they refuse it. */
export type Action = (transaction: Transaction) => void;

/** Versions of the core that the service knows. */
const versionMax = 2n;

/** It is reverted on a branch that already has the newest version. */
function scheduleKnownUpgrade(transaction: Transaction): void {
  expect(transaction.state.core.version < versionMax, 'this version is not drawn');
  scheduleUpgrade(transaction);
}

/** Draws what happens next from what the contracts hold. */
export function drawAction(random: Random, state: EconomyState, timestamp: bigint, genesis: bigint): Action {
  const weights: readonly (readonly [weight: number, draw: () => Action | null])[] = [
    [6, () => drawSettlement(random, state, timestamp, genesis)],
    [4, () => drawCheckpoint(random, state)],
    [5, () => drawMint(random, genesis)],
    [6, () => drawMerge(random, state, genesis)],
    [3, () => drawClaim(random, state)],
    [4, () => drawTransfer(random, state)],
    [0.3, () => pauseCore],
    [1, () => unpauseCore],
    [0.2, () => pauseCollection],
    [1, () => unpauseCollection],
    [0.2, () => (one) => advanceMetadataEpoch(one, random.pick(['', 'https://cards.example/']))],
    [1, () => drawPublication(random, state)],
    [0.3, () => (state.core.version < versionMax ? scheduleKnownUpgrade : null)],
    [1, () => (state.upgrade === null ? null : random.oneOf(4) ? cancelUpgrade : executeUpgrade)],
    // Reverts, because nobody owns this token.
    [0.5, () => (one) => transfer(one, random.pick(owners), random.pick(owners), 9_999n)],
  ];
  const total = weights.reduce((sum, [weight]) => sum + weight, 0);
  for (;;) {
    let at = random.next() * total;
    const chosen = weights.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    const action = chosen?.[1]() ?? null;
    if (action !== null) return action;
  }
}

function drawSettlement(
  random: Random,
  { core }: EconomyState,
  timestamp: bigint,
  genesis: bigint,
): Action | null {
  const closed = findRound(timestamp, genesis) - 1n;
  if (closed <= core.settledThroughRound) return null;
  const most = Number(closed - core.settledThroughRound);
  const through = core.settledThroughRound + BigInt(random.integer(1, Math.min(most, 20)));
  const active: { roundId: bigint; work: bigint }[] = [];
  for (let roundId = core.settledThroughRound + 1n; roundId <= through; roundId++)
    if (!random.oneOf(3) && BigInt(active.length) < economySettings.maxRoundsPerBatch)
      active.push({ roundId, work: BigInt(random.integer(1, 4_000)) });
  return (transaction) => settle(transaction, genesis, { through, active });
}

function drawCheckpoint(random: Random, { core, mining }: EconomyState): Action | null {
  const most = Number(core.settledThroughRound - mining.processedThroughRound);
  if (most === 0) return null;
  const through = mining.processedThroughRound + BigInt(random.integer(Math.ceil(most / 2), most));
  return (transaction) => checkpoint(transaction, through);
}

function drawMint(random: Random, genesis: bigint): Action {
  const [owner, quantity] = [random.pick(owners), BigInt(random.integer(1, 3))];
  return random.oneOf(6)
    ? (transaction) => mintReserve(transaction, genesis, owner, quantity)
    : (transaction) => mint(transaction, genesis, owner, quantity);
}

function listTokens({ collection }: EconomyState, owner: Address): bigint[] {
  return [...collection.owners].filter(([, one]) => one === owner).map(([tokenId]) => tokenId);
}

function drawMerge(random: Random, state: EconomyState, genesis: bigint): Action | null {
  const owner = random.pick(owners);
  const mergeable = listTokens(state, owner).filter((tokenId) => isMergeable(state, tokenId));
  if (mergeable.length < 2) return null;
  const survivor = random.pick(mergeable);
  const level = state.mining.positions.get(survivor)?.level;
  const donors = mergeable.filter(
    (one) => one !== survivor && state.mining.positions.get(one)?.level === level,
  );
  if (donors.length === 0) return null;
  const donor = random.pick(donors);
  return (transaction) => merge(transaction, genesis, owner, survivor, donor);
}

function drawClaim(random: Random, state: EconomyState): Action | null {
  const owner = random.pick(owners);
  const tokens = listTokens(state, owner).slice(0, random.integer(1, 5));
  return tokens.length === 0 ? null : (transaction) => claim(transaction, owner, tokens);
}

function drawTransfer(random: Random, state: EconomyState): Action | null {
  const [from, to] = [random.pick(owners), random.pick(owners)];
  const tokens = listTokens(state, from);
  if (tokens.length === 0) return null;
  const tokenId = random.pick(tokens);
  return (transaction) => transfer(transaction, from, to, tokenId);
}

function drawPublication(random: Random, state: EconomyState): Action | null {
  const tokens = [...state.collection.owners.keys()];
  if (tokens.length === 0) return null;
  const tokenId = random.pick(tokens);
  return (transaction) => publishMetadata(transaction, tokenId);
}
