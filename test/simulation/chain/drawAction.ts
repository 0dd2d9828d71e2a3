import type { Address } from '../../../actors/schemas/hex.ts';
import type { Random } from '../world/random.ts';
import {
  advanceMetadataEpoch,
  configureSale,
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

const functions = {
  ...{ advanceMetadataEpoch, configureSale, mint, mintReserve, pauseCollection },
  ...{ publishMetadata, transfer, unpauseCollection },
  ...{ pauseCore, settle, unpauseCore },
  ...{ checkpoint, claim, merge },
  ...{ cancelUpgrade, executeUpgrade, scheduleUpgrade: scheduleKnownUpgrade },
};
type Functions = typeof functions;
type ArgumentsOf<Name extends keyof Functions> =
  Parameters<Functions[Name]> extends [Transaction, ...infer Arguments] ? Arguments : never;

/** A call of the contracts: the name of its function, and the arguments. */
export type Call = { [Name in keyof Functions]: readonly [Name, ...ArgumentsOf<Name>] }[keyof Functions];

/** Functions that send calls to other contracts. */
export type Senders<Result> = {
  readonly [Name in keyof Functions]?: (...given: ArgumentsOf<Name>) => Result;
};

/** The action of a call of the simulated contracts. */
export function toAction([name, ...given]: Call): Action {
  // A call has the arguments of its function.
  const run = functions[name] as (transaction: Transaction, ...given: unknown[]) => void;
  return (transaction) => run(transaction, ...given);
}

export function drawAction(random: Random, state: EconomyState, timestamp: bigint): Action {
  return toAction(drawCall(random, state, timestamp, owners));
}

/** Draws what happens next from what the contracts hold. */
export function drawCall(
  random: Random,
  state: EconomyState,
  timestamp: bigint,
  accounts: readonly Address[],
): Call {
  const account = () => random.pick(accounts);
  const weights: readonly (readonly [weight: number, draw: () => Call | null])[] = [
    [6, () => drawSettlement(random, state, timestamp)],
    [4, () => drawCheckpoint(random, state)],
    [5, () => drawMint(random, account())],
    [6, () => drawMerge(random, state, account())],
    [3, () => drawClaim(random, state, account())],
    [4, () => drawTransfer(random, state, account(), account())],
    [0.3, () => ['pauseCore']],
    [1, () => ['unpauseCore']],
    [0.2, () => ['pauseCollection']],
    [1, () => ['unpauseCollection']],
    [0.2, () => ['advanceMetadataEpoch', random.pick(['', 'https://cards.example/'])]],
    [1, () => drawPublication(random, state)],
    [0.3, () => (state.core.version < versionMax ? ['scheduleUpgrade'] : null)],
    [1, () => (state.upgrade === null ? null : [random.oneOf(4) ? 'cancelUpgrade' : 'executeUpgrade'])],
    // Reverts, because nobody owns this token.
    [0.5, () => ['transfer', account(), account(), 9_999n]],
  ];
  for (;;) {
    const call = random.pickWeighted(weights)();
    if (call !== null) return call;
  }
}

function drawSettlement(random: Random, state: EconomyState, timestamp: bigint): Call | null {
  const { settledThroughRound } = state.core;
  const closed = findRound(state, timestamp) - 1n;
  if (closed <= settledThroughRound) return null;
  const most = Number(closed - settledThroughRound);
  const through = settledThroughRound + BigInt(random.integer(1, Math.min(most, 20)));
  const active: { roundId: bigint; workUnits: bigint }[] = [];
  for (let roundId = settledThroughRound + 1n; roundId <= through; roundId++)
    if (!random.oneOf(3) && BigInt(active.length) < economySettings.maxRoundsPerBatch)
      active.push({ roundId, workUnits: BigInt(random.integer(1, 4_000)) });
  return ['settle', { through, active }];
}

function drawCheckpoint(random: Random, { core, mining }: EconomyState): Call | null {
  const most = Number(core.settledThroughRound - mining.processedThroughRound);
  if (most === 0) return null;
  return ['checkpoint', mining.processedThroughRound + BigInt(random.integer(Math.ceil(most / 2), most))];
}

function drawMint(random: Random, owner: Address): Call {
  const quantity = BigInt(random.integer(1, 3));
  return [random.oneOf(6) ? 'mintReserve' : 'mint', owner, quantity];
}

function listTokens({ collection }: EconomyState, owner: Address): bigint[] {
  return [...collection.owners].filter(([, one]) => one === owner).map(([tokenId]) => tokenId);
}

function drawMerge(random: Random, state: EconomyState, owner: Address): Call | null {
  const mergeable = listTokens(state, owner).filter((tokenId) => isMergeable(state, tokenId));
  if (mergeable.length < 2) return null;
  const survivor = random.pick(mergeable);
  const level = state.mining.positions.get(survivor)?.level;
  const donors = mergeable.filter(
    (one) => one !== survivor && state.mining.positions.get(one)?.level === level,
  );
  return donors.length === 0 ? null : ['merge', owner, survivor, random.pick(donors)];
}

function drawClaim(random: Random, state: EconomyState, owner: Address): Call | null {
  const tokens = listTokens(state, owner).slice(0, random.integer(1, 5));
  return tokens.length === 0 ? null : ['claim', owner, tokens];
}

function drawTransfer(random: Random, state: EconomyState, from: Address, to: Address): Call | null {
  const tokens = listTokens(state, from);
  return tokens.length === 0 ? null : ['transfer', from, to, random.pick(tokens)];
}

function drawPublication(random: Random, { collection }: EconomyState): Call | null {
  const tokens = [...collection.owners.keys()];
  return tokens.length === 0 ? null : ['publishMetadata', random.pick(tokens)];
}
