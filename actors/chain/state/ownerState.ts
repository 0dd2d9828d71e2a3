import { type Map as ImmutableMap, List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { eventSource } from '../../events/eventSchemas.ts';
import type { Address } from '../../schemas/hex.ts';
import { amount, count } from '../../schemas/stateScalars.ts';
import { address } from '../../schemas/wireScalars.ts';
import { findPastOwner, type PastOwners, withoutPastOwner } from './pastOwners.ts';

export const activityKinds = ['mint', 'merge', 'claim', 'transfer'] as const;

/** An action of an owner, or a change of one of their positions. */
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
  /** Sequence of the message that made the event safe. */
  position: count,
});
export type OwnerEvent = Inferred<typeof ownerEvent>;

export interface OwnerState {
  /** Ascending. */
  readonly tokenIds: readonly number[];
  /** Paid to the owner by claims (base units), also of miners that it has given away since. */
  readonly paidBaseUnits: bigint;
  /** Number of all events. They are numbered from 0. */
  readonly activityCount: number;
  /** The newest events, oldest first. Earlier ones are only stored. */
  readonly activity: List<OwnerEvent>;
}

/** Everybody who has acted, each in one of the two. */
export interface KnownOwners {
  /** Owners with positions, or with events that are not rows yet. */
  readonly owners: ImmutableMap<Address, OwnerState>;
  readonly pastOwners: PastOwners;
}

export function findOwner({ owners, pastOwners }: KnownOwners, address: Address): OwnerState {
  return owners.get(address) ?? { tokenIds: [], ...findPastOwner(pastOwners, address), activity: List() };
}

export function setOwner(
  { owners, pastOwners }: KnownOwners,
  address: Address,
  owner: OwnerState,
): KnownOwners {
  return {
    owners: owners.set(address, owner),
    pastOwners: owners.has(address) ? pastOwners : withoutPastOwner(pastOwners, address),
  };
}

export interface LoggedActivity {
  readonly blockNumber: bigint;
  readonly owner: Address;
  /** Number among the owner's events, from 0. */
  readonly eventNumber: number;
}

export interface ActivityProgress {
  /** All events of blocks through this one are rows; null before the first. */
  readonly rowsThroughBlock: bigint | null;
  /** Events of all owners that are not rows yet, in the order of the chain. A reorganization may still remove them. */
  readonly pending: List<LoggedActivity>;
}

export const noActivity: ActivityProgress = { rowsThroughBlock: null, pending: List() };
