import type { OwnerEvent } from '../../chain/state/ownerState.ts';

export interface ActivityRange {
  /** Run of the fold that made them. */
  readonly run: string;
  readonly owner: string;
  /** The first one, */
  readonly from: number;
  /** and the one after the last. */
  readonly end: number;
  /** Sequence of the message that made the state's block safe: what was made of later ones is of another branch, or not part of the state. */
  readonly throughPosition: number;
}

/** Events of owners that have left memory, from where they are stored. A read costs about the same however many are stored. */
export interface OlderActivity {
  /**
   * All events of a range, oldest first.
   * Rejected with StorageUnavailable when ClickHouse does not answer, or does not hold each of them in time.
   */
  read(range: ActivityRange, signal: AbortSignal): Promise<readonly OwnerEvent[]>;
}
