import { Map as ImmutableMap, List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import type { ChainFeedEvent } from '../../events/eventSchemas.ts';
import { type EventWindow, nothingEvicted } from '../../events/eventWindow.ts';
import { amount, count } from '../../schemas/stateScalars.ts';
import type { knownBlock } from '../spans/chainSpan.ts';
import type { CollectionState } from './collectionState.ts';
import type { CoreState, Governance } from './coreState.ts';
import type { MinerPosition, MiningState } from './miningState.ts';
import { type ActivityProgress, type KnownOwners, noActivity } from './ownerState.ts';
import {
  type Archive,
  type Checkpoint,
  type MintedRound,
  nothingArchived,
  type SettledRound,
  type Settlement,
} from './settlements.ts';

export type KnownBlock = Inferred<typeof knownBlock>;

export const tokenState = z.strictObject({ symbol: z.string(), decimals: count, supplyBaseUnits: amount });
export type TokenState = Inferred<typeof tokenState>;

/** Everything that is read from the chain, at one block. Immutable; successive states share unchanged parts. */
export interface ChainState extends KnownOwners {
  readonly block: KnownBlock;
  /** Sequence of the message that made the block safe. */
  readonly position: number;
  readonly core: CoreState;
  readonly governance: Governance;
  /** The newest settlements, always including the last one. */
  readonly settlements: List<Settlement>;
  /** Settled rounds with work above `processedThroughRound`, ascending. */
  readonly unprocessedRounds: List<SettledRound>;
  readonly checkpoints: List<Checkpoint>;
  readonly archive: Archive;
  readonly mintedRounds: List<MintedRound>;
  readonly mining: MiningState;
  readonly minerPositions: ImmutableMap<number, MinerPosition>;
  readonly activityProgress: ActivityProgress;
  readonly collection: CollectionState;
  readonly token: TokenState | null;
  readonly feed: EventWindow<ChainFeedEvent>;
}

export function countSettlements({ archive, settlements }: ChainState): number {
  return archive.settlements.count + settlements.size;
}

/** The state before the first block. */
export function emptyChainState(block: KnownBlock): ChainState {
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
    minerPositions: ImmutableMap(),
    owners: ImmutableMap(),
    pastOwners: ImmutableMap(),
    activityProgress: noActivity,
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
    feed: { events: List(), evicted: nothingEvicted },
  };
}
