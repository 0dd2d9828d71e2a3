import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { eventSource } from '../../events/eventSchemas.ts';
import { amount, count, milliseconds } from '../../schemas/stateScalars.ts';
import { countWholeBlocks } from './blockUnits.ts';

/** Numbers of newest settlements and checkpoints that are listed (CONTRACT.md, Settlement history). */
export const recentSettlementsShown = 10;
export const recentCheckpointsShown = 12;

/** Number of shown minted rounds (CONTRACT.md, Settlement history). */
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
  /** Amount minted so far for its rounds (base units). */
  mintedBaseUnits: amount,
});
export type Settlement = Inferred<typeof settlement>;

/** The core's sums through a settled round with work. */
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
});
export type Checkpoint = Inferred<typeof checkpoint>;

/** Summary of a list whose oldest entries are evicted. Entries are numbered from 0. */
const archived = z.strictObject({
  /** Number of evicted entries. */
  count,
  /** Time of the newest evicted entry (epoch milliseconds); 0 without any. */
  throughMs: milliseconds,
});

/** Summary of evicted settlements and checkpoints. */
export const archive = z.strictObject({
  settlements: archived.extend({
    activeRoundCount: amount,
    workAdded: amount,
    completedBlockCount: amount,
    /** The newest {@link recentSettlementsShown} evicted settlements that completed a block, oldest first. */
    completed: z.array(settlement),
  }),
  checkpoints: archived.extend({ amountBaseUnits: amount }),
});
export type Archive = Inferred<typeof archive>;

export const nothingArchived: Archive = {
  settlements: {
    count: 0,
    throughMs: 0,
    activeRoundCount: 0n,
    workAdded: 0n,
    completedBlockCount: 0n,
    completed: [],
  },
  checkpoints: { count: 0, throughMs: 0, amountBaseUnits: 0n },
};

export const mintedRound = z.strictObject({ roundId: amount, amountBaseUnits: amount });
export type MintedRound = Inferred<typeof mintedRound>;

export function countCompletedBlocks({
  cumulativeBlockUnits,
  previousCumulativeBlockUnits,
}: Settlement): bigint {
  return countWholeBlocks(cumulativeBlockUnits) - countWholeBlocks(previousCumulativeBlockUnits);
}
