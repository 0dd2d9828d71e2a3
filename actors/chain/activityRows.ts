import type { OwnerActivityRow } from '../storedRows.ts';
import { type ChainState, noteChanged, type RecordName } from './chainState.ts';
import type { AwaitedActivity, OwnerEvent, OwnerState } from './ownerState.ts';

/** So many of the newest events stay in memory of each owner that has a token: the page that is requested most. */
export const ownerEventsRetained = 25;
/**
 * About so many entries of a kind become rows with one message, those of a block together: only after a start on the state of an earlier version, or
 * far behind the tip, are there more.
 */
export const rowsOfMessage = 5_000;

/** An event that becomes a row. */
export interface FinalActivity extends AwaitedActivity {
  readonly event: OwnerEvent;
}

/**
 * Events of owners become rows, each once and in order of their blocks, once their block is final. Then the oldest are evicted: of an owner
 * with a token all but the newest {@link ownerEventsRetained}, of others all. How many an owner had is never forgotten.
 */
export function makeActivityFinal(
  state: ChainState,
  finalBlock: bigint,
): { readonly state: ChainState; readonly final: readonly FinalActivity[] } {
  const { awaited } = state.activityProgress;
  const due = awaited.take(countDue(state, finalBlock)).toArray();
  const last = due.at(-1);
  if (last === undefined) return { state, final: [] };
  const final = due.map((one): FinalActivity => ({ ...one, event: requireEvent(state, one) }));
  const activityProgress = { rowsThroughBlock: last.blockNumber, awaited: awaited.skip(due.length) };
  return { state: evictActivity({ ...state, activityProgress }, due), final };
}

function countDue({ activityProgress: { awaited } }: ChainState, finalBlock: bigint): number {
  let count = 0;
  let before: AwaitedActivity | undefined;
  for (const one of awaited) {
    if (one.blockNumber > finalBlock) break;
    if (count >= rowsOfMessage && one.blockNumber !== before?.blockNumber) break;
    before = one;
    count++;
  }
  return count;
}

function requireEvent({ owners }: ChainState, { owner, eventNumber }: AwaitedActivity): OwnerEvent {
  const known = owners.get(owner);
  const event = known?.activity.get(eventNumber - findFirstInMemory(known));
  if (event === undefined)
    throw new Error(`event ${eventNumber} of ${owner} left memory before it was a row`);
  return event;
}

/** Number of the oldest event of an owner that is in memory. */
export function findFirstInMemory({ activityCount, activity }: OwnerState): number {
  return activityCount - activity.size;
}

/** @param stored events that are rows by now. */
function evictActivity(state: ChainState, stored: readonly AwaitedActivity[]): ChainState {
  const storedEnds = new Map(stored.map(({ owner, eventNumber }) => [owner, eventNumber + 1]));
  const names: RecordName[] = [];
  const owners = state.owners.withMutations((all) => {
    for (const [owner, storedEnd] of storedEnds) {
      const known = all.get(owner);
      if (known === undefined) throw new Error(`${owner} had events and is not known`);
      const first = findFirstInMemory(known);
      const retained = known.tokenIds.length > 0 ? ownerEventsRetained : 0;
      const end = Math.min(storedEnd, known.activityCount - retained);
      if (end <= first) continue;
      all.set(owner, { ...known, activity: known.activity.skip(end - first) });
      names.push(`activityCount ${owner}`);
      for (let eventNumber = first; eventNumber < end; eventNumber++)
        names.push(`activity ${owner}/${eventNumber}`);
    }
  });
  return noteChanged({ ...state, owners }, ...names);
}

/** @param run of the fold that made the event. */
export function toActivityRow({ owner, eventNumber, event }: FinalActivity, run: string): OwnerActivityRow {
  const { source, address, from, to, ...members } = event;
  return {
    ...members,
    ...source,
    run,
    owner,
    eventNumber,
    contractAddress: address,
    fromAddress: from,
    toAddress: to,
  };
}

/** The event of a row. */
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
