import { List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { eventSource } from '../../events/eventSchemas.ts';
import type { Address } from '../../schemas/hex.ts';
import { amount, count } from '../../schemas/stateScalars.ts';
import { address } from '../../schemas/wireScalars.ts';

export const activityKinds = ['mint', 'merge', 'claim', 'transfer'] as const;

/** Something that an owner did, or that was done with a position of theirs. */
export const ownerEvent = z.strictObject({
  kind: z.enum(activityKinds),
  address,
  tokenIds: z.array(amount),
  amountBaseUnits: amount.nullable(),
  from: address.nullable(),
  to: address.nullable(),
  level: count.nullable(),
  effectiveRound: amount.nullable(),
  nextMergeBlock: amount.nullable(),
  source: eventSource,
  /** Sequence of the message that made it safe. */
  position: count,
});
export type OwnerEvent = Inferred<typeof ownerEvent>;

export interface OwnerState {
  /** Ascending. */
  readonly tokenIds: readonly number[];
  /** How many events there were; they are numbered from 0. */
  readonly activityCount: number;
  /** The newest of them, oldest first, or none; those before them are in ClickHouse alone. */
  readonly activity: List<OwnerEvent>;
}

export interface LoggedActivity {
  readonly blockNumber: bigint;
  readonly owner: Address;
  /** Its number among the owner's events. */
  readonly eventNumber: number;
}

export interface ActivityProgress {
  /** All of blocks through this one; null before the first. */
  readonly rowsThroughBlock: bigint | null;
  /** What is in memory of all owners, in the order in which it was logged. */
  readonly logged: List<LoggedActivity>;
  /** So many of the first of them are rows; a reorganization that can be followed may still take the others away. */
  readonly rowCount: number;
}

export const noActivity: ActivityProgress = { rowsThroughBlock: null, logged: List(), rowCount: 0 };
