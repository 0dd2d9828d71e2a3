import type { List } from 'immutable';
import { requireValue } from '../../../machines/requireValue.ts';
import type { EventSource } from '../../events/eventSchemas.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import type { StoredBy } from '../../feed/eventRows.ts';
import type { Address } from '../../schemas/hex.ts';
import type { ChainState } from '../state/chainState.ts';
import type { KnownOwners, LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';
import { withPastOwner } from '../state/pastOwners.ts';

/** Entries of an owner's page, unless a request names another number. */
export const ownerPageDefault = 25;
/** Newest events of each owner of a position that stay in memory once they are rows. */
export const ownerEventsRetained = ownerPageDefault;
/** Approximate limit of entries of a kind that one message turns into rows. A block's entries stay together. */
export const rowsOfMessage = 5_000;

export interface FinalActivity extends LoggedActivity {
  readonly event: OwnerEvent;
}

/**
 * Turns owners' events of final blocks into rows, each once and in order, and evicts them from memory, except the newest
 * {@link ownerEventsRetained} of each owner of a position. Their number is kept.
 *
 * @param afterBlock block of the state before. Owners with events of later blocks may have more in memory than stay.
 */
export function makeActivityFinal(
  state: ChainState,
  finalBlock: bigint,
  afterBlock: bigint,
): { readonly state: ChainState; readonly final: readonly FinalActivity[] } {
  const { pending, rowsThroughBlock } = state.activityProgress;
  const due = pending.take(countDue(pending, finalBlock));
  const final = due.toArray().map((one): FinalActivity => ({ ...one, event: requireEvent(state, one) }));
  const activityProgress = {
    pending: pending.skip(due.size),
    rowsThroughBlock: due.last()?.blockNumber ?? rowsThroughBlock,
  };
  const changed = new Set(due.map(({ owner }) => owner));
  // In order of their blocks.
  for (const { owner, blockNumber } of pending.toSeq().reverse()) {
    if (blockNumber <= afterBlock) break;
    changed.add(owner);
  }
  const known = evictRows(state, changed, activityProgress.rowsThroughBlock ?? -1n);
  return { state: { ...state, ...known, activityProgress }, final };
}

function countDue(pending: List<LoggedActivity>, finalBlock: bigint): number {
  let count = 0;
  let before: LoggedActivity | undefined;
  for (const one of pending) {
    if (one.blockNumber > finalBlock) break;
    if (count >= rowsOfMessage && one.blockNumber !== before?.blockNumber) break;
    before = one;
    count++;
  }
  return count;
}

/**
 * The events that stay follow from the state, not from when they became rows: so a state that is taken over equals one that is folded. Only after a fork into
 * the middle of a message may an owner keep more, until its next event is due. Only totals stay of an owner without positions, so an owner who comes back has
 * fewer events in memory.
 */
function evictRows(
  { owners, pastOwners }: KnownOwners,
  changed: Iterable<Address>,
  through: bigint,
): KnownOwners {
  for (const address of changed) {
    const owner = requireValue(owners.get(address), 'the owner of an event');
    const { activity, tokenIds } = owner;
    const retained = tokenIds.length === 0 ? 0 : ownerEventsRetained;
    const isNoRow = (at: number) => (activity.get(at)?.source.blockNumber ?? 0n) > through;
    const surplus = Math.min(findFirstIndex(activity.size, isNoRow), activity.size - retained);
    if (surplus <= 0) continue;
    if (surplus < activity.size) owners = owners.set(address, { ...owner, activity: activity.skip(surplus) });
    else {
      owners = owners.delete(address);
      pastOwners = withPastOwner(pastOwners, address, owner);
    }
  }
  return { owners, pastOwners };
}

/** @throws Error if the event is not in memory. */
export function requireEvent({ owners }: ChainState, { owner, eventNumber }: LoggedActivity): OwnerEvent {
  const known = owners.get(owner);
  const event = known?.activity.get(eventNumber - findFirstInMemory(known));
  if (event === undefined) throw new Error(`event ${eventNumber} of ${owner} is logged but not in memory`);
  return event;
}

/** Number of the oldest event of an owner that is in memory. */
export function findFirstInMemory({ activityCount, activity }: OwnerState): number {
  return activityCount - activity.size;
}

/** An event of an owner that no reorganization can remove any more. */
export interface OwnerActivityRow
  extends Omit<OwnerEvent, 'source' | 'address' | 'from' | 'to'>,
    EventSource,
    StoredBy {
  readonly owner: Address;
  /** Number among the owner's events, from 0. */
  readonly eventNumber: number;
  readonly contractAddress: Address;
  readonly fromAddress: Address | null;
  readonly toAddress: Address | null;
}

export function toActivityRow(
  { owner, eventNumber, event }: FinalActivity,
  origin: StoredBy,
): OwnerActivityRow {
  const { source, address, from, to, ...members } = event;
  return {
    ...members,
    ...source,
    ...origin,
    owner,
    eventNumber,
    contractAddress: address,
    fromAddress: from,
    toAddress: to,
  };
}

export function toOwnerEvent(row: OwnerActivityRow): OwnerEvent {
  const { kind, tokenIds, amountBaseUnits, level, effectiveRound, nextMergeBlock, position } = row;
  const { blockNumber, blockHash, blockTimestampMs, transactionHash, transactionIndex, logIndex } = row;
  return {
    kind,
    address: row.contractAddress,
    tokenIds,
    amountBaseUnits,
    from: row.fromAddress,
    to: row.toAddress,
    level,
    effectiveRound,
    nextMergeBlock,
    source: { blockNumber, blockHash, blockTimestampMs, transactionHash, transactionIndex, logIndex },
    position,
  };
}
