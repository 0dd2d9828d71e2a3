import type { ContractAddresses } from '../../chain/spans/chainEvent.ts';
import type { ChainAvailability } from '../../chain/state/chainAvailability.ts';
import type { ChainState } from '../../chain/state/chainState.ts';
import type { CollectionPhase } from '../../chain/state/collectionPhase.ts';
import type { CollectionState } from '../../chain/state/collectionState.ts';
import type { CoreState, Governance } from '../../chain/state/coreState.ts';
import type { MiningConfiguration } from '../../chain/state/miningState.ts';
import type { OwnerEvent } from '../../chain/state/ownerState.ts';
import type { SettlementSource } from '../../chain/state/settlementSource.ts';
import type { MintedRound, Settlement } from '../../chain/state/settlements.ts';
import type { StateFault } from '../../chain/state/stateChecks.ts';
import type { ShownMetadata } from '../../chain/state/tokenMetadata.ts';
import type { ChainFeedEvent } from '../../events/eventSchemas.ts';
import type { EventWindow } from '../../events/eventWindow.ts';
import type { Address, BlockHash } from '../../schemas/hex.ts';
import type { buildPortfolioPage, PositionView } from './ownerPages.ts';
import type {
  buildBuckets,
  describeIssuance,
  SettlementRange,
  SettlementSums,
  SettlementWindow,
} from './settlementHistory.ts';
import type { OwnerWeight } from './weights.ts';

/** Each chain view is read at one safe block. Amounts and block numbers are bigints, times epoch milliseconds. */

export const chainTargets = ['anvil', 'sepolia', 'mainnet'] as const;

export interface Release {
  readonly id: string;
  readonly protocolRevision: string;
  readonly rewardModelRevision: string;
}

/** The chain of a view, and how far it is indexed (CONTRACT.md, Shared objects). */
export interface ChainInfo {
  readonly target: (typeof chainTargets)[number];
  readonly chainId: bigint;
  readonly deploymentBlock: bigint;
  readonly economyDeploymentBlock: bigint;
  readonly indexedThroughBlock: bigint;
  readonly safeThroughBlock: bigint;
  readonly safeBlockHash: BlockHash;
  readonly safeBlockTimestampMs: number;
}

/** The contracts of a view (CONTRACT.md, Shared objects). */
export interface Identities extends Omit<ContractAddresses, 'proxyAdmin' | 'operatorTimelock'> {
  readonly miningImplementation: string;
  readonly miningImplementationVersion: bigint;
  readonly miningStorageLayoutDigest: string;
}

/** Reasons that bodies carry (CONTRACT.md, Unavailable reasons). */
export const chainUnavailableReasons = [
  'indexer_disabled',
  'not_yet_safe',
  'indexer_unavailable',
  'indexer_mismatch',
] as const;
export type ChainUnavailableReason = (typeof chainUnavailableReasons)[number];

/** Condition of views in full detail, for operators. */
export type ChainCondition = ChainAvailability | StateFault;

/** Conditions of the core's views, the economy's views and the checked issuance state. */
export interface ChainConditions {
  readonly core: ChainCondition;
  readonly economy: ChainCondition;
  readonly checkedIssuance: ChainCondition;
}

export interface ChainUnavailable {
  readonly status: 'unavailable';
  readonly installationId: string;
  readonly reason: ChainUnavailableReason;
  readonly release: Release | null;
}

export interface ChainAvailable {
  readonly status: 'available';
  readonly installationId: string;
  readonly generatedAtMs: number;
  readonly chain: ChainInfo;
  readonly release: Release;
}

export interface CoreView extends ChainAvailable {
  readonly contracts: ContractAddresses;
  readonly core: CoreState;
  readonly governance: Governance & {
    readonly [Name in 'proxyAdminOwner' | 'proxyAdminSlot' | 'operatorProposer']: Address;
  };
  /** `ready` once a scheduled operation may be executed. */
  readonly operationState: string | null;
}

export interface SettlementHistoryView extends ChainAvailable {
  readonly source: Exclude<SettlementSource, 'unavailable'>;
  readonly range: SettlementRange;
  readonly contracts: ContractAddresses;
  readonly window: SettlementWindow | null;
  readonly summary: SettlementSums & { readonly archivedSettlementCount: bigint };
  /** Newest first. */
  readonly recentSettlements: readonly Settlement[];
  readonly buckets: ReturnType<typeof buildBuckets>;
  readonly issuance: ReturnType<typeof describeIssuance>;
  /** Newest first, with the end of each round; null for a ranged request. */
  readonly recentRounds: readonly (MintedRound & { readonly endAtMs: number })[] | null;
  readonly previousPeriod: {
    readonly startAtMs: number;
    readonly endAtMs: number;
    readonly mintedBaseUnits: bigint;
  } | null;
}

export interface IssuanceView extends ChainAvailable {
  readonly identities: Identities;
  readonly asset: { readonly address: string; readonly symbol: string; readonly decimals: number };
  readonly supplyCap: bigint;
  readonly mintedBaseUnits: bigint;
  readonly tokenSupplyBaseUnits: bigint;
  readonly paidBaseUnits: bigint;
  readonly closedThroughBlock: bigint;
  readonly processedThroughRound: bigint;
  readonly lastActivationRound: bigint;
  readonly livePositionCount: bigint;
  readonly collection: CollectionState & { readonly phase: CollectionPhase };
}

/** Configuration and state of the mining contract, the same for all positions. */
export interface MiningView extends ChainAvailable {
  readonly identities: Identities;
  readonly configuration: MiningConfiguration & {
    readonly genesisTimestamp: bigint;
    readonly roundDuration: bigint;
    readonly tokenSymbol: string;
    readonly tokenDecimals: number;
  };
  readonly mining: {
    readonly settledThroughRound: bigint;
    readonly currentRound: bigint;
    readonly completedBlockHeight: bigint;
    readonly lastAppliedRound: bigint;
    readonly totalWeight: bigint;
  };
}

export interface PortfolioView extends MiningView, Omit<ReturnType<typeof buildPortfolioPage>, 'hasMore'> {
  readonly owner: string;
  readonly nextCursor: string | null;
}

export interface MinerView extends MiningView {
  readonly tokenId: bigint;
  /** Whether there is or was such a token at the safe block. */
  readonly isCreated: boolean;
  /** Null once the miner has been merged into another one. */
  readonly live: {
    readonly owner: Address;
    readonly position: PositionView;
    readonly earnings: ReturnType<typeof buildPortfolioPage>['earnings'];
  } | null;
}

export interface MinersView extends MiningView {
  /** By weight, the heaviest first, and then by token ID. */
  readonly miners: readonly (PositionView & { readonly owner: Address })[];
  readonly nextCursor: string | null;
}

export interface OwnersView extends MiningView {
  /** By weight, the heaviest first, and then by address. */
  readonly owners: readonly OwnerWeight[];
  readonly nextCursor: string | null;
}

export interface WeightPageRequest {
  readonly limit: number;
  /** Null for the first page. */
  readonly cursor: string | null;
}

export interface OwnerActivityView extends ChainAvailable {
  readonly owner: string;
  readonly identities: Identities;
  readonly total: bigint;
  /** Newest first. */
  readonly activity: readonly OwnerEvent[];
  readonly nextCursor: string | null;
}

export interface MetadataView extends ChainAvailable, ShownMetadata {
  readonly identities: Identities;
  readonly tokenId: bigint;
}

/** `ahead` means that the cursor's block is not safe here yet, because this process is behind the process that issued the cursor. */
export type CursorFault = 'undecodable' | 'other_owner' | 'invalidated' | 'ahead';

export interface OwnerPageRequest {
  readonly owner: Address;
  readonly limit: number;
  readonly cursor: string | null;
}

/** The newest events of the economy, with the context that they are shown with. */
export interface EconomyView extends ChainAvailable {
  readonly identities: Identities;
  readonly asset: { readonly address: string; readonly symbol: string; readonly decimals: number };
  readonly feed: EventWindow<ChainFeedEvent>;
}

/** How the chain is followed at the moment, for people: which chain it is, and what is known while it cannot be read. */
export interface ChainFollowing {
  /** Null if no contracts are configured. */
  readonly target: ChainInfo['target'] | null;
  /** Why the core cannot be shown; null if it can. */
  readonly reason: ChainUnavailableReason | null;
  /** Block of the last known state while the core cannot be shown; null if it can be shown, or nothing is known. */
  readonly lastKnown: { readonly blockNumber: bigint; readonly timestampMs: number } | null;
}

/** Views for the chain's routes. Every call is synchronous and without I/O, except a page of older activity. */
export interface ChainViews {
  /** The newest safe state; null if the core cannot be shown. */
  safeState(): ChainState | null;
  /** For operators; bodies carry fewer reasons. */
  conditions(): ChainConditions;
  /** Shared for up to five seconds, as are the issuance and settlement views. */
  core(): CoreView | ChainUnavailable;
  issuance(): IssuanceView | ChainUnavailable;
  /** Issuance that has passed the checks of the public routes. */
  checkedIssuance(): IssuanceView | ChainUnavailable;
  settlements(range: SettlementRange): SettlementHistoryView | ChainUnavailable;
  portfolio(page: OwnerPageRequest): PortfolioView | ChainUnavailable | { readonly fault: CursorFault };
  /** A value if the page is in memory, else a promise, which may reject with RecordsUnavailable. */
  ownerActivity(
    page: OwnerPageRequest,
    signal: AbortSignal,
  ): OwnerActivityView | ChainUnavailable | { readonly fault: CursorFault } | Promise<OwnerActivityView>;
  miner(tokenId: number): MinerView | ChainUnavailable;
  /** All live miners. A cursor goes on below the last weight that was shown, even if weights have changed since. */
  miners(page: WeightPageRequest): MinersView | ChainUnavailable | { readonly fault: 'undecodable' };
  /** All owners of live miners. */
  owners(page: WeightPageRequest): OwnersView | ChainUnavailable | { readonly fault: 'undecodable' };
  /** The chain's events for the feed, at the newest safe block. */
  economy(): EconomyView | ChainUnavailable;
  /** `not_yet_safe` for a token that is missing, or whose metadata is of an earlier epoch. */
  metadata(tokenId: number): MetadataView | ChainUnavailable;
  /** Null if no contracts are configured. */
  readonly release: Release | null;
  /** The same object until something of it changes. */
  following(): ChainFollowing;
  /**
   * Views of the newest state that passes every check, even while it is too old for the routes. Pages show them with their date. The
   * settlement views do that themselves.
   */
  readonly lastKnown: LastKnownChainViews;
}

export type LastKnownChainViews = Pick<
  ChainViews,
  'core' | 'issuance' | 'portfolio' | 'ownerActivity' | 'economy' | 'metadata' | 'miner' | 'miners' | 'owners'
>;
