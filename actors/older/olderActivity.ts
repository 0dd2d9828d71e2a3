import type { OwnerEvent } from '../chain/state/ownerState.ts';

export interface ActivityRange {
  readonly owner: string;
  /** Number of the first event. */
  readonly from: number;
  /** Number after the last event. */
  readonly end: number;
  /** Sequence of the message that made the state's block safe. Events of later messages do not belong to the state. */
  readonly throughPosition: number;
}

/** Reads evicted events of owners. The cost of a read hardly depends on the number of stored events. */
export interface OlderActivity {
  /**
   * All events of a range, oldest first.
   * Rejects with RecordsUnavailable if their store does not answer, or does not hold all of them in time.
   */
  read(range: ActivityRange, signal: AbortSignal): Promise<readonly OwnerEvent[]>;
}
