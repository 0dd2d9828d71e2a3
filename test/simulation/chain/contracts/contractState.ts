import type { Hex } from 'viem';
import type { ContractKind } from '../../../../actors/chain/spans/chainEvent.ts';
import type { Address } from '../../../../actors/schemas/hex.ts';
import type { WrittenEvent } from '../../../support/chain/writtenSpans.ts';
import { economySettings } from './settings.ts';

/** The contracts' state, as far as their events depend on it. */
export type EconomyState = ReturnType<typeof createEconomyState>;

/** A settled round with work, and the sums through it. */
export interface ActiveRound {
  readonly roundId: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
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
class Reverted extends Error {
  override readonly name = 'Reverted';
}

/** Runs an action, which changes the state. Returns its logs; null if the contracts refused it, before they changed anything. */
export function runAction(
  act: (transaction: Transaction) => void,
  state: EconomyState,
  timestamp: bigint,
): WrittenEvent[] | null {
  const events: WrittenEvent[] = [];
  try {
    act({ state, timestamp, emit: (contract, name, args) => events.push({ contract, name, args }) });
    return events;
  } catch (error) {
    if (!(error instanceof Reverted)) throw error;
    return null;
  }
}

export function expect(isTrue: boolean, rule: string): asserts isTrue {
  if (!isTrue) throw new Reverted(rule);
}

/** The state after the contracts' constructors and initializers. */
export function createEconomyState(genesis: bigint) {
  return {
    /** Start of the first round in Unix seconds. */
    genesis,
    core: {
      paused: false,
      cumulativeWork: 0n,
      cumulativeBlockUnits: 0n,
      workPerThousandBlocks: economySettings.initialWorkPerThousandBlocks,
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
      /** Settled rounds that no checkpoint has reached. */
      unminted: [] as readonly ActiveRound[],
      lastMinted: { cumulativeWork: 0n, cumulativeBlockUnits: 0n },
      /** Rounds at which weights change that no checkpoint has reached, ascending. */
      activations: [] as readonly bigint[],
      weightChanges: new Map<bigint, bigint>(),
      perWeightAtActivation: new Map<bigint, bigint>(),
      positions: new Map<bigint, MinerPosition>(),
    },
    collection: {
      paused: false,
      sale: null as Sale | null,
      publicMinted: 0n,
      reserveMinted: 0n,
      metadataEpoch: 1n,
      cardBaseUrl: '',
      owners: new Map<bigint, Address>(),
    },
    /** The scheduled upgrade of the core, if any. */
    upgrade: null as ScheduledUpgrade | null,
  };
}

/** A copy that can be changed; lists and entries of maps are replaced, never changed. */
export function copyState({ genesis, core, mining, collection, upgrade }: EconomyState): EconomyState {
  return {
    genesis,
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
