import type { Hex } from 'viem';
import type { ContractKind } from '../../../../actors/chain/spans/chainEvent.ts';
import type { Address } from '../../../../actors/schemas/hex.ts';

/** The contracts' state, as far as their events depend on it. */
export interface EconomyState {
  readonly core: CoreState;
  readonly mining: MiningState;
  readonly collection: CollectionState;
  /** The scheduled upgrade of the core, if any. */
  upgrade: ScheduledUpgrade | null;
}

export interface CoreState {
  paused: boolean;
  cumulativeWork: bigint;
  cumulativeBlockUnits: bigint;
  workPerThousandBlocks: bigint;
  settledThroughRound: bigint;
  authorizationNonce: bigint;
  version: bigint;
}

/** A settled round with work, and the sums through it. */
export interface ActiveRound {
  readonly roundId: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
}

export interface MiningState {
  totalWeight: bigint;
  accumulatedPerWeight: bigint;
  totalMinted: bigint;
  totalPaid: bigint;
  processedThroughRound: bigint;
  closedThroughBlock: bigint;
  lastActivationRound: bigint;
  /** Settled rounds that no checkpoint has reached. */
  unminted: readonly ActiveRound[];
  lastMinted: Omit<ActiveRound, 'roundId'>;
  /** Rounds at which weights change that no checkpoint has reached, ascending. */
  activations: readonly bigint[];
  readonly weightChanges: Map<bigint, bigint>;
  readonly perWeightAtActivation: Map<bigint, bigint>;
  readonly positions: Map<bigint, MinerPosition>;
}

export interface MinerPosition {
  readonly level: number;
  /** Null where no change of weight is pending. */
  pendingRound: bigint | null;
  readonly nextMergeBlock: bigint;
  activeWeight: bigint;
  readonly targetWeight: bigint;
  accountedPerWeight: bigint;
  unclaimed: bigint;
}

export interface Sale {
  readonly allowlistStart: bigint;
  readonly allowlistEnd: bigint;
  readonly publicPrice: bigint;
  readonly publicAllocation: bigint;
  readonly protocolReserve: bigint;
}

export interface CollectionState {
  paused: boolean;
  sale: Sale | null;
  publicMinted: bigint;
  reserveMinted: bigint;
  metadataEpoch: bigint;
  cardBaseUrl: string;
  readonly owners: Map<bigint, Address>;
}

interface ScheduledUpgrade {
  readonly id: Hex;
  readonly version: bigint;
  readonly data: Hex;
  readonly readyAt: bigint;
}

/** A transaction while it runs. */
export interface Transaction {
  readonly state: EconomyState;
  /** Timestamp of the block in Unix seconds. */
  readonly timestamp: bigint;
  /** Writes a log. */
  emit(contract: ContractKind, name: string, args: Readonly<Record<string, unknown>>): void;
}

/** Undoes the transaction, which then has no logs. */
export class Reverted extends Error {
  override readonly name = 'Reverted';
}

export function expect(isTrue: boolean, rule: string): asserts isTrue {
  if (!isTrue) throw new Reverted(rule);
}

/** The state after the contracts' constructors and initializers. */
export function createEconomyState(workPerThousandBlocks: bigint): EconomyState {
  return {
    core: {
      paused: false,
      cumulativeWork: 0n,
      cumulativeBlockUnits: 0n,
      workPerThousandBlocks,
      settledThroughRound: 0n,
      authorizationNonce: 0n,
      version: 1n,
    },
    mining: {
      totalWeight: 0n,
      accumulatedPerWeight: 0n,
      totalMinted: 0n,
      totalPaid: 0n,
      processedThroughRound: 0n,
      closedThroughBlock: 0n,
      lastActivationRound: 0n,
      unminted: [],
      lastMinted: { cumulativeWork: 0n, cumulativeBlockUnits: 0n },
      activations: [],
      weightChanges: new Map(),
      perWeightAtActivation: new Map(),
      positions: new Map(),
    },
    collection: {
      paused: false,
      sale: null,
      publicMinted: 0n,
      reserveMinted: 0n,
      metadataEpoch: 1n,
      cardBaseUrl: '',
      owners: new Map(),
    },
    upgrade: null,
  };
}

/** A copy that can be changed; lists and entries of maps are replaced, never changed. */
export function copyState({ core, mining, collection, upgrade }: EconomyState): EconomyState {
  return {
    core: { ...core },
    mining: {
      ...mining,
      weightChanges: new Map(mining.weightChanges),
      perWeightAtActivation: new Map(mining.perWeightAtActivation),
      positions: new Map(mining.positions),
    },
    collection: { ...collection, owners: new Map(collection.owners) },
    upgrade,
  };
}
