import type { OwnerActivityRow } from '../../actors/chain/rows/activityRows.ts';
import type { KeyedEventRow } from '../../actors/feed/eventRows.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import type { BucketRow, RoundRow } from '../../actors/wheel/roundFold.ts';

/**
 * Rows that the folds make of a contiguous piece of a stream, in order of position. A row never changes: within a run its key is natural, and its
 * version is the stream sequence that made it, so writing it again changes nothing.
 */
export interface FoldedRows {
  readonly readings: readonly CounterReading[];
  readonly rounds: readonly RoundRow[];
  readonly buckets: readonly BucketRow[];
  readonly measurementEvents: readonly KeyedEventRow[];
  readonly chainEvents: readonly KeyedEventRow[];
  readonly ownerActivity: readonly OwnerActivityRow[];
  /** Every message up to this sequence is folded. Its rows are here or in an earlier piece. */
  readonly throughPosition: number;
}

/** Lists of a piece of a stream without rows. */
export const noRows: Omit<FoldedRows, 'throughPosition'> = {
  readings: [],
  rounds: [],
  buckets: [],
  measurementEvents: [],
  chainEvents: [],
  ownerActivity: [],
};
