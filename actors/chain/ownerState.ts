import type { List } from 'immutable';
import type { Address } from '../schemas/hex.ts';
import type { EventSource } from './chainEvent.ts';

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
