import type { EventSource } from '../../events/eventSchemas.ts';
import type { Address } from '../../schemas/hex.ts';
import type { ChainState } from '../state/chainState.ts';
import type { LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';
import type { ChainRowOrigin } from './rowOrigin.ts';

/** Newest events of all owners together that stay in memory once they are rows. Most pages show only these. */
export const ownerEventsRetained = 50_000;
/** Approximate limit of entries of a kind that one message turns into rows. A block's entries stay together. */
export const rowsOfMessage = 5_000;

export interface FinalActivity extends LoggedActivity {
  readonly event: OwnerEvent;
}

/**
 * Turns owners' events of final blocks into rows, each once and in order, and evicts all but the newest `retained` rows. Each owner's
 * number of events is kept.
 */
export function makeActivityFinal(
  state: ChainState,
  finalBlock: bigint,
  retained: number,
): { readonly state: ChainState; readonly final: readonly FinalActivity[] } {
  const { logged, rowCount, rowsThroughBlock } = state.activityProgress;
  const due = logged.slice(rowCount, rowCount + countDue(state, finalBlock)).toArray();
  const final = due.map((one): FinalActivity => ({ ...one, event: requireEvent(state, one) }));
  const activityProgress = {
    logged,
    rowCount: rowCount + due.length,
    rowsThroughBlock: due.at(-1)?.blockNumber ?? rowsThroughBlock,
  };
  return { state: evictActivity({ ...state, activityProgress }, retained, due.length), final };
}

function countDue({ activityProgress: { logged, rowCount } }: ChainState, finalBlock: bigint): number {
  let count = 0;
  let before: LoggedActivity | undefined;
  for (const one of logged.slice(rowCount)) {
    if (one.blockNumber > finalBlock) break;
    if (count >= rowsOfMessage && one.blockNumber !== before?.blockNumber) break;
    before = one;
    count++;
  }
  return count;
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

/** @param added rows of this message, which raise the limit of evictions per message. */
function evictActivity(state: ChainState, retained: number, added: number): ChainState {
  const { logged, rowCount } = state.activityProgress;
  const count = Math.min(Math.max(0, rowCount - retained), added + rowsOfMessage);
  if (count === 0) return state;
  const counts = new Map<LoggedActivity['owner'], number>();
  for (const { owner } of logged.take(count)) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  const owners = state.owners.withMutations((all) => {
    for (const [owner, ofOwner] of counts) {
      const known = all.get(owner);
      if (known === undefined) throw new Error(`${owner} had events but is not known`);
      all.set(owner, { ...known, activity: known.activity.skip(ofOwner) });
    }
  });
  const activityProgress = {
    ...state.activityProgress,
    logged: logged.skip(count),
    rowCount: rowCount - count,
  };
  return { ...state, owners, activityProgress };
}

/** An event of an owner that no reorganization can remove any more. */
export interface OwnerActivityRow
  extends Omit<OwnerEvent, 'source' | 'address' | 'from' | 'to'>,
    EventSource,
    ChainRowOrigin {
  readonly owner: Address;
  /** Number among the owner's events, from 0. */
  readonly eventNumber: number;
  readonly contractAddress: Address;
  readonly fromAddress: Address | null;
  readonly toAddress: Address | null;
}

export function toActivityRow(
  { owner, eventNumber, event }: FinalActivity,
  origin: ChainRowOrigin,
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
