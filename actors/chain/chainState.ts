import { Map as ImmutableMap, Set as ImmutableSet, List } from 'immutable';
import type { Hex } from 'viem';
import type { Arrival } from '../feed/arrival.ts';
import { type EventWindow, nothingEvicted } from '../feed/eventWindow.ts';
import type { Address, BlockHash } from '../schemas/hex.ts';
import { zeroAddress } from '../schemas/zero.ts';
import type { ChainEvent, EventSource } from './chainEvent.ts';
import type { ProposerChange } from './chainReads.ts';

/** Block units of one work block (CONTRACT.md, Units). */
export const blockUnitsPerBlock = 1_000_000_000n;

/** Work blocks that are complete with so many block units. */
export function countWholeBlocks(cumulativeBlockUnits: bigint): bigint {
  return cumulativeBlockUnits / blockUnitsPerBlock;
}

/** Core events that are shown (CONTRACT.md, Core state). */
export const coreEventsShown = 25;

/** Settlements and checkpoints that are listed, the newest ones (CONTRACT.md, Settlement history). */
export const recentSettlementsShown = 10;
export const recentCheckpointsShown = 12;

/** Minted rounds that are shown (CONTRACT.md, Settlement history). */
export const recentRoundsShown = 42;

/** A block whose hash is known. */
export interface KnownBlock {
  readonly number: bigint;
  readonly hash: BlockHash;
  readonly timestampMs: number;
}

export interface CoreConfiguration {
  readonly streamId: Hex;
  readonly genesisTimestamp: bigint;
  readonly roundDuration: bigint;
  readonly maxWorkPerRound: bigint;
  readonly maxRoundsPerBatch: bigint;
  readonly initialWorkPerThousandBlocks: bigint;
  readonly targetBlocksPerActiveRound: bigint;
  readonly difficultySmoothingRounds: bigint;
  readonly blockUnitsPerBlock: bigint;
  readonly guardian: Address;
  readonly reporter: Address;
}

/** Which code runs behind a proxy. */
export interface Implementation {
  readonly codeAddress: Address;
  readonly codeVersion: bigint;
  readonly storageLayoutDigest: Hex;
  readonly runtimeHash: Hex;
}

export interface CoreState {
  readonly configuration: CoreConfiguration | null;
  readonly implementation: Implementation | null;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
  readonly settledThroughRound: bigint;
  readonly authorizationNonce: bigint;
  readonly paused: boolean;
  /** The newest event of the core contract itself. */
  readonly source: { readonly eventName: string; readonly source: EventSource } | null;
  /** Newest first, at most {@link coreEventsShown}, of the core, its proxy, the proxy admin and the timelock. */
  readonly events: readonly ChainEvent[];
}

export const operationStates = ['scheduled', 'executed', 'cancelled'] as const;
export type OperationState = (typeof operationStates)[number];

export interface Governance {
  readonly proxyAdminOwner: Address | null;
  /** What the proxy's admin slot holds. */
  readonly proxyAdminSlot: Address | null;
  /** Accounts whose proposer role of the timelock changed or is known from before the first block, the latest change last. */
  readonly proposers: readonly ProposerChange[];
  /** The newest one that still has the role; the zero address where each has lost it, null where none is known. */
  readonly operatorProposer: Address | null;
  /** The latest operation of the timelock that calls the proxy or its admin. */
  readonly operation: {
    readonly id: Hex;
    readonly kind: 'upgrade' | 'call';
    readonly state: OperationState;
    /** When it may be executed (epoch milliseconds). */
    readonly readyAtMs: number;
  } | null;
}

export function withProposers(governance: Governance, proposers: readonly ProposerChange[]): Governance {
  const newest = proposers.findLast(({ isGranted }) => isGranted)?.account ?? null;
  return {
    ...governance,
    proposers,
    operatorProposer: newest ?? (proposers.length > 0 ? zeroAddress : null),
  };
}

/** A batch that the core recorded. */
export interface Settlement {
  readonly source: EventSource;
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: bigint;
  readonly workAdded: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly previousCumulativeBlockUnits: bigint;
  /** Minted so far for its rounds (base units). */
  readonly mintedBaseUnits: bigint;
  /** Sequence of the message that made it safe. */
  readonly position: number;
}

/** Sums of cumulative block units through a settled round that held work. */
export interface SettledRound {
  readonly roundId: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
}

export interface Checkpoint {
  readonly source: EventSource;
  readonly afterRound: bigint;
  readonly throughRound: bigint;
  readonly completedBlockCount: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly eligibleWeight: bigint;
  readonly amountBaseUnits: bigint;
  readonly totalMintedBaseUnits: bigint;
  /** Sequence of the message that made it safe. */
  readonly position: number;
}

/** What is known of the settlements and checkpoints that have left memory, and which have become rows. */
export interface Archive {
  readonly settlements: ArchivedSettlements;
  readonly checkpoints: ArchivedCheckpoints;
}

/** What is known of a list whose oldest entries have left memory. Entries are numbered from 0. */
interface Archived {
  /** How many have become rows, those with the least numbers. */
  readonly rowCount: number;
  /** How many of those have left memory. */
  readonly count: number;
  /** Time of the newest one that has (epoch milliseconds); 0 without any. */
  readonly throughMs: number;
}

export interface ArchivedSettlements extends Archived {
  readonly activeRoundCount: bigint;
  readonly workAdded: bigint;
  readonly completedBlockCount: bigint;
  /** The newest {@link recentSettlementsShown} of those that completed a block, oldest first. */
  readonly completed: readonly Settlement[];
}

export interface ArchivedCheckpoints extends Archived {
  readonly amountBaseUnits: bigint;
}

/** Before the first row. */
export const nothingArchived: Archive = {
  settlements: {
    rowCount: 0,
    count: 0,
    throughMs: 0,
    activeRoundCount: 0n,
    workAdded: 0n,
    completedBlockCount: 0n,
    completed: [],
  },
  checkpoints: { rowCount: 0, count: 0, throughMs: 0, amountBaseUnits: 0n },
};

export interface MintedRound {
  readonly roundId: bigint;
  readonly amountBaseUnits: bigint;
}

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

export interface Position {
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

export const activityKinds = ['mint', 'merge', 'claim', 'transfer'] as const;

/** Something that an owner did, or that was done with a position of theirs. */
export interface OwnerEvent {
  readonly kind: (typeof activityKinds)[number];
  readonly address: Address;
  readonly tokenIds: readonly bigint[];
  readonly amountBaseUnits: bigint | null;
  readonly from: Address | null;
  readonly to: Address | null;
  readonly level: number | null;
  readonly effectiveRound: bigint | null;
  readonly nextMergeBlock: bigint | null;
  readonly source: EventSource;
  /** Sequence of the message that made it safe. */
  readonly position: number;
}

export interface OwnerState {
  /** Ascending. */
  readonly tokenIds: readonly number[];
  /** How many events there were; they are numbered from 0. */
  readonly activityCount: number;
  /** The newest of them, oldest first; those before them are in ClickHouse alone. */
  readonly activity: List<OwnerEvent>;
}

/** An event of an owner that is not final yet: a reorganization that can be followed may still take it away. */
export interface AwaitedActivity {
  readonly blockNumber: bigint;
  readonly owner: Address;
  /** Its number among the owner's events. */
  readonly eventNumber: number;
}

/** Which of the owners' events have become rows. */
export interface ActivityProgress {
  /** All of blocks through this one; null before the first. */
  readonly rowsThroughBlock: bigint | null;
  /** The others, oldest first. */
  readonly awaited: List<AwaitedActivity>;
}

/** What an event of the feed tells. Amounts, rounds and blocks of work are bigints. */
export type ChainFeedDetails =
  | {
      readonly type: 'system.settlement_completed';
      readonly previousSettledThroughRound: bigint;
      readonly settledThroughRound: bigint;
      readonly activeRoundCount: bigint;
      readonly workAdded: bigint;
      readonly completedBlockCount: bigint;
      /** Null when no block was completed. */
      readonly firstCompletedBlock: bigint | null;
      readonly lastCompletedBlock: bigint | null;
      readonly cumulativeWork: bigint;
      readonly blockHeight: bigint;
      readonly cumulativeBlockUnits: bigint;
    }
  | {
      readonly type: 'system.mining_checkpointed';
      readonly afterRound: bigint;
      readonly throughRound: bigint;
      readonly completedBlockCount: bigint;
      readonly cumulativeWork: bigint;
      readonly amountBaseUnits: bigint;
      readonly cumulativeBlockUnits: bigint;
    }
  | {
      readonly type: 'player.miner_minted';
      readonly owner: Address;
      readonly tokenId: bigint;
      readonly weight: bigint;
      readonly nextMergeBlock: bigint;
      readonly firstRound: bigint;
    }
  | {
      readonly type: 'player.miners_merged';
      readonly owner: Address;
      readonly survivorTokenId: bigint;
      readonly donorTokenId: bigint;
      readonly level: number;
      readonly nextMergeBlock: bigint;
      readonly effectiveRound: bigint;
    }
  | {
      readonly type: 'player.rewards_claimed';
      readonly owner: Address;
      readonly tokenIds: readonly bigint[];
      readonly amountBaseUnits: bigint;
    };

/** An event of the feed that was logged on the chain. */
export interface ChainFeedEvent extends Arrival {
  readonly family: 'chain';
  readonly details: ChainFeedDetails;
  /** Of the contract that logged it. */
  readonly address: Address;
  readonly source: EventSource;
  /** When the span that made it safe was stored (epoch milliseconds). */
  readonly recordedAtMs: number;
}

/** Everything that is read from the chain, as it was at one block. Immutable; the next one shares what did not change. */
export interface ChainState {
  readonly block: KnownBlock;
  /** Sequence of the message that made the block safe. */
  readonly position: number;
  readonly core: CoreState;
  readonly governance: Governance;
  /** The newest ones, as are checkpoints; never without the last one. */
  readonly settlements: List<Settlement>;
  /** Settled rounds with work above `processedThroughRound`, ascending. */
  readonly unprocessedRounds: List<SettledRound>;
  readonly checkpoints: List<Checkpoint>;
  readonly archive: Archive;
  readonly mintedRounds: List<MintedRound>;
  readonly mining: MiningState;
  readonly positions: ImmutableMap<number, Position>;
  readonly owners: ImmutableMap<Address, OwnerState>;
  readonly activity: ActivityProgress;
  readonly collection: CollectionState;
  readonly token: TokenState | null;
  readonly feed: EventWindow<ChainFeedEvent>;
  /** What the block changed of what has a key of its own in a snapshot. */
  readonly changed: ImmutableSet<RecordName>;
}

/** Names a record of a snapshot (`chainRecords.ts`). */
export type RecordName = `${KeyedRecord} ${string | number | bigint}`;

/** Kinds of records of which a state has many. */
export type KeyedRecord =
  | 'settlement'
  | 'unprocessedRound'
  | 'checkpoint'
  | 'perWeight'
  | 'activationPerWeight'
  | 'pendingWeight'
  | 'metadata'
  | 'position'
  | 'feedEvent'
  | 'activity'
  | 'activityCount';

/** How many settlements there were. */
export function countSettlements({ archive, settlements }: ChainState): number {
  return archive.settlements.count + settlements.size;
}

/** Work blocks that a settlement completed. */
export function countCompletedBlocks({
  cumulativeBlockUnits,
  previousCumulativeBlockUnits,
}: Settlement): bigint {
  return countWholeBlocks(cumulativeBlockUnits) - countWholeBlocks(previousCumulativeBlockUnits);
}

/** The state with a note of what a block changed, so that a snapshot need not write the rest again. */
export function noteChanged(state: ChainState, ...names: readonly RecordName[]): ChainState {
  return { ...state, changed: state.changed.union(names) };
}

/**
 * Before the first block.
 *
 * @param run of the fold, as its events name it.
 */
export function emptyChainState(block: KnownBlock, run: string): ChainState {
  return {
    block,
    position: 0,
    core: {
      configuration: null,
      implementation: null,
      cumulativeWork: 0n,
      cumulativeBlockUnits: 0n,
      workPerThousandBlocks: 0n,
      settledThroughRound: 0n,
      authorizationNonce: 0n,
      paused: false,
      source: null,
      events: [],
    },
    governance: {
      proxyAdminOwner: null,
      proxyAdminSlot: null,
      proposers: [],
      operatorProposer: null,
      operation: null,
    },
    settlements: List(),
    unprocessedRounds: List(),
    checkpoints: List(),
    archive: nothingArchived,
    mintedRounds: List(),
    mining: {
      configuration: null,
      implementation: null,
      totalWeight: 0n,
      accumulatedPerWeight: 0n,
      mintedBaseUnits: 0n,
      paidBaseUnits: 0n,
      processedThroughRound: 0n,
      closedThroughBlock: 0n,
      lastActivationRound: 0n,
      perWeightAtActivation: ImmutableMap(),
      pendingWeight: ImmutableMap(),
      perWeightByDate: List(),
      processedBlockUnits: 0n,
    },
    positions: ImmutableMap(),
    owners: ImmutableMap(),
    activity: { rowsThroughBlock: null, awaited: List() },
    collection: {
      sale: null,
      isClosed: false,
      paused: false,
      publicMinted: 0n,
      reserveMinted: 0n,
      metadataEpoch: 0n,
      metadata: ImmutableMap(),
    },
    token: null,
    feed: { run, events: List(), evicted: nothingEvicted },
    changed: ImmutableSet(),
  };
}
