import type { EventSource } from '../spans/chainEvent.ts';
import { countWholeBlocks } from './blockUnits.ts';

/** Settlements and checkpoints that are listed, the newest ones (CONTRACT.md, Settlement history). */
export const recentSettlementsShown = 10;
export const recentCheckpointsShown = 12;

/** Minted rounds that are shown (CONTRACT.md, Settlement history). */
export const recentRoundsShown = 42;

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

/** Work blocks that a settlement completed. */
export function countCompletedBlocks({
  cumulativeBlockUnits,
  previousCumulativeBlockUnits,
}: Settlement): bigint {
  return countWholeBlocks(cumulativeBlockUnits) - countWholeBlocks(previousCumulativeBlockUnits);
}
