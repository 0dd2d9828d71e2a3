import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { eventSource } from '../../events/eventSchemas.ts';
import { amount, count, milliseconds } from '../../schemas/stateScalars.ts';
import { countWholeBlocks } from './blockUnits.ts';

/** Settlements and checkpoints that are listed, the newest ones (CONTRACT.md, Settlement history). */
export const recentSettlementsShown = 10;
export const recentCheckpointsShown = 12;

/** Minted rounds that are shown (CONTRACT.md, Settlement history). */
export const recentRoundsShown = 42;

export const settlement = z.strictObject({
  source: eventSource,
  previousSettledThroughRound: amount,
  settledThroughRound: amount,
  activeRoundCount: amount,
  workAdded: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  previousCumulativeBlockUnits: amount,
  /** Minted so far for its rounds (base units). */
  mintedBaseUnits: amount,
  /** Sequence of the message that made it safe. */
  position: count,
});
export type Settlement = Inferred<typeof settlement>;

/** Sums of cumulative block units through a settled round that held work. */
export const settledRound = z.strictObject({
  roundId: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
});
export type SettledRound = Inferred<typeof settledRound>;

export const checkpoint = z.strictObject({
  source: eventSource,
  afterRound: amount,
  throughRound: amount,
  completedBlockCount: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  eligibleWeight: amount,
  amountBaseUnits: amount,
  totalMintedBaseUnits: amount,
  /** Sequence of the message that made it safe. */
  position: count,
});
export type Checkpoint = Inferred<typeof checkpoint>;

/** What is known of a list whose oldest entries have left memory. Entries are numbered from 0. */
const archived = z.strictObject({
  /** How many have become rows, those with the least numbers. */
  rowCount: count,
  /** How many of those have left memory. */
  count,
  /** Time of the newest one that has (epoch milliseconds); 0 without any. */
  throughMs: milliseconds,
});

/** What is known of the settlements and checkpoints that have left memory, and which have become rows. */
export const archive = z.strictObject({
  settlements: archived.extend({
    activeRoundCount: amount,
    workAdded: amount,
    completedBlockCount: amount,
    /** The newest {@link recentSettlementsShown} of those that completed a block, oldest first. */
    completed: z.array(settlement),
  }),
  checkpoints: archived.extend({ amountBaseUnits: amount }),
});
export type Archive = Inferred<typeof archive>;

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

export const mintedRound = z.strictObject({ roundId: amount, amountBaseUnits: amount });
export type MintedRound = Inferred<typeof mintedRound>;

export function countCompletedBlocks({
  cumulativeBlockUnits,
  previousCumulativeBlockUnits,
}: Settlement): bigint {
  return countWholeBlocks(cumulativeBlockUnits) - countWholeBlocks(previousCumulativeBlockUnits);
}
