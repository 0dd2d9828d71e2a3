import type { List } from 'immutable';
import { requireValue } from '../../../machines/requireValue.ts';
import type { EventSource } from '../../events/eventSchemas.ts';
import type { StoredBy } from '../../feed/eventRows.ts';
import type { Address } from '../../schemas/hex.ts';
import type { ChainState } from '../state/chainState.ts';
import type { LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';

/** Newest events of each owner that stay in memory once they are rows: a page of the default size (`http/routes/ownerPage.ts`). */
export const ownerEventsRetained = 25;
/** Approximate limit of entries of a kind that one message turns into rows. A block's entries stay together. */
export const rowsOfMessage = 5_000;

export interface FinalActivity extends LoggedActivity {
  readonly event: OwnerEvent;
}

/**
 * Turns owners' events of final blocks into rows, each once and in order, and evicts them from memory, except the newest `retained` ones
 * of each owner. Their number is kept.
 */
export function makeActivityFinal(
  state: ChainState,
  finalBlock: bigint,
  retained: number,
): { readonly state: ChainState; readonly final: readonly FinalActivity[] } {
  const { pending, rowsThroughBlock } = state.activityProgress;
  const due = pending.take(countDue(pending, finalBlock));
  const final = due.toArray().map((one): FinalActivity => ({ ...one, event: requireEvent(state, one) }));
  const activityProgress = {
    pending: pending.skip(due.size),
    rowsThroughBlock: due.last()?.blockNumber ?? rowsThroughBlock,
  };
  const owners = evictRows(state.owners, due, retained);
  return { state: { ...state, owners, activityProgress }, final };
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

/** @param rows the newest rows, in order. */
function evictRows(
  owners: ChainState['owners'],
  rows: Iterable<LoggedActivity>,
  retained: number,
): ChainState['owners'] {
  const newestRows = new Map(Array.from(rows, ({ owner, eventNumber }) => [owner, eventNumber]));
  return owners.withMutations((all) => {
    for (const [owner, newestRow] of newestRows) {
      const known = requireValue(all.get(owner), 'the owner of an event');
      const retainedFrom = Math.min(newestRow + 1, known.activityCount - retained);
      const surplus = retainedFrom - findFirstInMemory(known);
      if (surplus > 0) all.set(owner, { ...known, activity: known.activity.skip(surplus) });
    }
  });
}

/** @throws Error if the event is not in memory. */
function requireEvent({ owners }: ChainState, { owner, eventNumber }: LoggedActivity): OwnerEvent {
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
