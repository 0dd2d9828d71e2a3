import { Map as ImmutableMap, List } from 'immutable';
import { collectRecords, RecordRefused, readRecords } from '../foldRecord.ts';
import { type Address, isAddress } from '../schemas/hex.ts';
import { chainRecords } from './chainRecords.ts';
import type { ActivityProgress, AwaitedActivity, OwnerEvent, OwnerState, Position } from './chainState.ts';

/** The events of an owner that are in memory, while they are collected. */
interface CollectedActivity {
  /** Number of the first one. */
  first: number;
  events: List<OwnerEvent | undefined>;
  /** Some may be missing between others. */
  isIrregular: boolean;
}

/**
 * Collects positions and owners from their records. Maps and lists grow with the records, so that little is left to do in the end, which nothing
 * interrupts. Addresses, which come very often, are one string each.
 */
export function collectOwners() {
  const positions = ImmutableMap<number, Position>().asMutable();
  const tokens = new Map<string, number[]>();
  const activities = new Map<string, CollectedActivity>();
  const counts = collectRecords(chainRecords.activityCount);
  const addresses = new Map<string, Address>();
  const owners = ImmutableMap<string, OwnerState>().asMutable();
  /** Owners that are not as their records say. */
  const outdated = new Set<string>();
  /** Of the record before. */
  let latest = '';

  function share<Shared extends Address | null>(address: Shared): Shared | Address {
    if (address === null) return address;
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, address);
    return known ?? address;
  }

  function takePosition(position: Position | null, key: string) {
    const tokenId = Number(key);
    const before = positions.get(tokenId);
    if (position === null) positions.delete(tokenId);
    else positions.set(tokenId, { ...position, owner: share(position.owner) });
    if (before?.owner === position?.owner) return;
    if (before !== undefined) {
      const held = tokens.get(before.owner) ?? [];
      held.splice(held.indexOf(tokenId), 1);
      outdated.add(before.owner);
    }
    if (position === null) return;
    const owner = share(position.owner);
    const held = tokens.get(owner);
    if (held === undefined) tokens.set(owner, [tokenId]);
    else held.push(tokenId);
    outdated.add(owner);
  }

  function takeEvent(event: OwnerEvent | null, key: string) {
    const [owner = '', number] = key.split('/');
    if (!isAddress(owner)) throw new RecordRefused(`activity ${key} is of no owner`);
    const eventNumber = Number(number);
    // Records of an owner mostly follow one another: so an owner is built when the next one comes.
    if (owner !== latest && activities.get(latest)?.isIrregular === false) build(latest);
    latest = owner;
    outdated.add(share(owner));
    const collected = activities.get(owner) ?? createCollected(eventNumber);
    collected.events = collected.events.asMutable();
    if (event === null) dropEvent(collected, eventNumber);
    else {
      const { address, from, to } = event;
      putEvent(collected, eventNumber, {
        ...event,
        address: share(address),
        from: share(from),
        to: share(to),
      });
    }
    if (collected.events.isEmpty()) activities.delete(owner);
    else activities.set(share(owner), collected);
  }

  function build(owner: string) {
    outdated.delete(owner);
    const tokenIds = (tokens.get(owner) ?? []).toSorted((a, b) => a - b);
    const collected = activities.get(owner) ?? createCollected(counts.values.get(owner) ?? 0);
    const activity = requireEvery(owner, collected);
    const activityCount = collected.first + activity.size;
    if (tokenIds.length + activityCount > 0) owners.set(owner, { tokenIds, activityCount, activity });
    else owners.delete(owner);
  }

  return {
    readers: [
      readRecords(chainRecords.position, takePosition),
      readRecords(chainRecords.activity, takeEvent),
      counts,
    ],
    /** @throws RecordRefused when an event is missing between others. */
    complete(rowsThroughBlock: bigint | null) {
      for (const owner of [...outdated, ...counts.values.keys()]) build(owner);
      const activity = findProgress(owners, rowsThroughBlock);
      return { positions: positions.asImmutable(), owners: owners.asImmutable(), activity };
    },
  };
}

function createCollected(first: number): CollectedActivity {
  return { first, events: List<OwnerEvent | undefined>().asMutable(), isIrregular: false };
}

function putEvent(collected: CollectedActivity, eventNumber: number, event: OwnerEvent) {
  const { events } = collected;
  const index = eventNumber - collected.first;
  if (index === events.size) events.push(event);
  else if (index >= 0) {
    events.set(index, event);
    collected.isIrregular = true;
  } else {
    // A reorganization brings evicted ones back.
    for (let missing = collected.first - 1; missing > eventNumber; missing--) events.unshift(undefined);
    events.unshift(event);
    collected.first = eventNumber;
    collected.isIrregular = true;
  }
}

/** A reorganization takes the newest away, an eviction the oldest. */
function dropEvent(collected: CollectedActivity, eventNumber: number) {
  const { events } = collected;
  const index = eventNumber - collected.first;
  if (index < 0 || index >= events.size) return;
  events.set(index, undefined);
  collected.isIrregular = true;
  while (!events.isEmpty() && events.last() === undefined) events.pop();
  while (!events.isEmpty() && events.first() === undefined) {
    events.shift();
    collected.first++;
  }
}

function requireEvery(owner: string, { first, events, isIrregular }: CollectedActivity): List<OwnerEvent> {
  const missing = isIrregular ? events.indexOf(undefined) : -1;
  if (missing !== -1) throw new RecordRefused(`activity of ${owner} ${first + missing} is missing`);
  return events.asImmutable() as List<OwnerEvent>;
}

/** Events in memory of blocks whose events are no rows yet. */
function findProgress(
  owners: ImmutableMap<string, OwnerState>,
  rowsThroughBlock: bigint | null,
): ActivityProgress {
  const awaited: LoggedActivity[] = [];
  for (const [owner, { activityCount, activity }] of owners) {
    for (let back = 1; back <= activity.size; back++) {
      const event = activity.get(-back) as OwnerEvent;
      const { blockNumber } = event.source;
      if (rowsThroughBlock !== null && blockNumber <= rowsThroughBlock) break;
      awaited.push({ blockNumber, owner: owner as Address, eventNumber: activityCount - back, event });
    }
  }
  awaited.sort(compareLogged);
  return {
    rowsThroughBlock,
    awaited: List(
      awaited.map(({ blockNumber, owner, eventNumber }) => ({ blockNumber, owner, eventNumber })),
    ),
  };
}

type LoggedActivity = AwaitedActivity & { readonly event: OwnerEvent };

/** In the order in which they were logged; of a transfer, the giver's before the taker's. */
function compareLogged(one: LoggedActivity, other: LoggedActivity): number {
  if (one.blockNumber !== other.blockNumber) return one.blockNumber < other.blockNumber ? -1 : 1;
  const byLog = one.event.source.logIndex - other.event.source.logIndex;
  return byLog || (one.owner === one.event.from ? -1 : 1);
}
