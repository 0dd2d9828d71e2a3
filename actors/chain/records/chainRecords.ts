import { z } from 'zod';
import { chainFeedEvent } from '../../events/eventSchemas.ts';
import { evictedEvents } from '../../events/eventWindow.ts';
import { defineListRecord, defineRecord } from '../../folds/foldRecord.ts';
import { amount, count, milliseconds } from '../../schemas/stateScalars.ts';
import { spanFoldScalars } from '../fold/spanFoldState.ts';
import { knownBlock } from '../spans/chainSpan.ts';
import { tokenState } from '../state/chainState.ts';
import { collectionScalars, tokenMetadata } from '../state/collectionState.ts';
import { coreState, governance } from '../state/coreState.ts';
import { minerPosition, miningScalars } from '../state/miningState.ts';
import { ownerEvent } from '../state/ownerState.ts';
import { archive, checkpoint, mintedRound, settledRound, settlement } from '../state/settlements.ts';

/** The newest safe state without its keyed lists, which have kinds of records of their own. */
const state = z.strictObject({
  block: knownBlock,
  position: count,
  core: coreState,
  governance,
  mining: miningScalars,
  collection: collectionScalars,
  token: tokenState.nullable(),
  mintedRounds: z.array(mintedRound),
  activityRowsThroughBlock: amount.nullable(),
  archive,
  feed: z.strictObject({ run: z.string(), evicted: evictedEvents }),
});

/** The number of an owner's events, and the newest ones, oldest first. */
const ownerActivity = z.strictObject({ activityCount: count, activity: z.array(ownerEvent) });

export const chainRecords = {
  /** One, with an empty key. */
  fold: defineRecord('fold', spanFoldScalars.extend({ newestSpanAtMs: milliseconds.nullable() })),
  /** One, with an empty key, once a block is safe. */
  state: defineRecord('state', state),
  /** By number. */
  settlement: defineRecord('settlement', settlement),
  /** By round. */
  unprocessedRound: defineRecord('unprocessedRound', settledRound),
  /** By number. */
  checkpoint: defineRecord('checkpoint', checkpoint),
  /** `accumulatedPerWeight` at the end of a date, by date. */
  perWeight: defineRecord('perWeight', amount),
  /** `accumulatedPerWeight` at the activation of a round, by round. */
  activationPerWeight: defineRecord('activationPerWeight', amount),
  /** By round. */
  pendingWeight: defineRecord('pendingWeight', amount),
  /** By token. */
  metadata: defineRecord('metadata', tokenMetadata),
  /** By token. */
  position: defineListRecord('position', minerPosition),
  /** By `formatArrival`. */
  feedEvent: defineRecord('feedEvent', chainFeedEvent),
  /** By address, for owners that have acted. */
  owner: defineListRecord('owner', ownerActivity),
} as const;
