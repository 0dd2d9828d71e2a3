import type { Map as ImmutableMap, List } from 'immutable';
import type { Address } from '../../schemas/hex.ts';
import type { Implementation } from './coreState.ts';

export interface MiningConfiguration {
  /** The contracts that it was configured with. */
  readonly core: Address;
  readonly token: Address;
  readonly collection: Address;
  readonly rewardPerBlock: bigint;
  readonly supplyCap: bigint;
  readonly claimLimit: bigint;
  /** Level 1 first. */
  readonly levels: readonly { readonly weight: bigint; readonly cooldownBlocks: bigint }[];
}

export interface MiningState {
  readonly configuration: MiningConfiguration | null;
  readonly implementation: Implementation | null;
  readonly totalWeight: bigint;
  /** Reward of one unit of weight since the beginning, scaled by `rewardScale`. */
  readonly accumulatedPerWeight: bigint;
  readonly mintedBaseUnits: bigint;
  readonly paidBaseUnits: bigint;
  readonly processedThroughRound: bigint;
  readonly closedThroughBlock: bigint;
  readonly lastActivationRound: bigint;
  /** `accumulatedPerWeight` when the weights of a round began to count. */
  readonly perWeightAtActivation: ImmutableMap<string, bigint>;
  /** Changes of the total weight that do not count yet, by round. */
  readonly pendingWeight: ImmutableMap<string, bigint>;
  /** `accumulatedPerWeight` at the end of each UTC date on which it changed, ascending. */
  readonly perWeightByDate: List<{ readonly date: string; readonly atEnd: bigint }>;
  /** Cumulative block units through `processedThroughRound`. */
  readonly processedBlockUnits: bigint;
}

/** Weight that counts while `accumulatedPerWeight` goes from one value to another; null while it still does. */
export interface WeightSegment {
  readonly fromPerWeight: bigint;
  readonly throughPerWeight: bigint | null;
  readonly weight: bigint;
}

export interface MinerPosition {
  readonly tokenId: number;
  readonly owner: Address;
  readonly ownershipStartedAtMs: number;
  readonly level: number;
  readonly pending: {
    readonly round: bigint;
    readonly source: 'mint' | 'merge';
    readonly weight: bigint;
  } | null;
  readonly nextMergeBlock: bigint;
  readonly segments: readonly WeightSegment[];
  /** Paid by claims (base units), of merged donors too. */
  readonly paidBaseUnits: bigint;
}

export interface TokenMetadata {
  readonly epoch: bigint;
  readonly uri: string;
}

export interface Sale {
  readonly allowlistStart: bigint;
  readonly allowlistEnd: bigint;
  readonly publicPrice: bigint;
  readonly publicAllocation: bigint;
  readonly protocolReserve: bigint;
}

export interface CollectionState {
  readonly sale: Sale | null;
  readonly isClosed: boolean;
  readonly paused: boolean;
  readonly publicMinted: bigint;
  readonly reserveMinted: bigint;
  readonly metadataEpoch: bigint;
  readonly metadata: ImmutableMap<number, TokenMetadata>;
}

export interface TokenState {
  readonly symbol: string;
  readonly decimals: number;
  readonly supplyBaseUnits: bigint;
}
