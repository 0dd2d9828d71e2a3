import { Map as ImmutableMap, List } from 'immutable';
import { collectRecords, RecordRefused, type RecordValue, readRecords } from '../foldRecord.ts';
import { type Address, isAddress } from '../schemas/hex.ts';
import { chainRecords } from './chainRecords.ts';
import type { MinerPosition } from './miningState.ts';
import type { ActivityProgress, AwaitedActivity, OwnerEvent, OwnerState } from './ownerState.ts';

/** The events of an owner that are in memory, while they are collected. */
interface CollectedActivity {
  /** Number of the first one. */
  first: number;
  events: List<OwnerEvent | undefined>;
  /** Those that follow, which come into the list together. */
  following: OwnerEvent[];
  /** Some may be missing between others. */
  isIrregular: boolean;
}

/** An owner with many events, which earlier versions kept in memory, has so many put into the list at once. */
const followingMax = 1_000;

type EventValue = RecordValue<typeof chainRecords.activity>;
type PositionValue = RecordValue<typeof chainRecords.position>;

/**
 * Collects positions and owners from their records. Maps and lists grow with the records, so that little is left to do in the end, which nothing
 * interrupts. Addresses, which come very often, are one string each.
 */
export function collectOwners() {
  const minerPositions = ImmutableMap<number, MinerPosition>().asMutable();
  const tokens = new Map<string, number[]>();
  const activities = new Map<string, CollectedActivity>();
  const counts = collectRecords(chainRecords.activityCount);
  const addresses = new Map<string, Address>();
  const owners = ImmutableMap<Address, OwnerState>().asMutable();
  /** Owners that are not as their records say. */
  const outdated = new Set<Address>();
  /** Of the event before: records of an owner mostly follow one another, and contracts are few. */
  let latestOwner: Address | null = null;
  let latestContract: Address | null = null;

  /** @param likely what it probably is, which is faster to see than to look for. */
  function share(address: Address, likely: Address | null): Address {
    if (address === likely) return likely;
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, address);
    return known ?? address;
  }

  function takePosition(position: PositionValue | null, key: string) {
    const tokenId = Number(key);
    const before = minerPositions.get(tokenId);
    if (position === null) minerPositions.delete(tokenId);
    else {
      position.owner = share(position.owner, null);
      minerPositions.set(tokenId, position);
    }
    if (before?.owner === position?.owner) return;
    if (before !== undefined) {
      const tokenIds = tokens.get(before.owner) ?? [];
      tokenIds.splice(tokenIds.indexOf(tokenId), 1);
      outdated.add(before.owner);
    }
    if (position === null) return;
    const tokenIds = tokens.get(position.owner);
    if (tokenIds === undefined) tokens.set(position.owner, [tokenId]);
    else tokenIds.push(tokenId);
    outdated.add(position.owner);
  }

  function takeEvent(event: EventValue | null, key: string) {
    const slash = key.indexOf('/');
    const owner = takeOwner(key.slice(0, slash));
    const eventNumber = Number(key.slice(slash + 1));
    const collected = activities.get(owner) ?? createCollected(eventNumber);
    if (event === null) dropEvent(collected, eventNumber);
    else {
      latestContract = event.address = share(event.address, latestContract);
      if (event.from !== null) event.from = share(event.from, owner);
      if (event.to !== null) event.to = share(event.to, owner);
      putEvent(collected, eventNumber, event);
    }
    if (isEmpty(collected)) activities.delete(owner);
    else activities.set(owner, collected);
  }

  /** An owner is built when the next one comes. */
  function takeOwner(text: string): Address {
    if (text === latestOwner) return latestOwner;
    if (latestOwner !== null && activities.get(latestOwner)?.isIrregular === false) build(latestOwner);
    latestOwner = share(requireOwner(text), null);
    outdated.add(latestOwner);
    return latestOwner;
  }

  function build(owner: Address) {
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
      for (const owner of [...outdated, ...[...counts.values.keys()].map(requireOwner)]) build(owner);
      const activityProgress = findProgress(owners, rowsThroughBlock);
      return { minerPositions: minerPositions.asImmutable(), owners: owners.asImmutable(), activityProgress };
    },
  };
}

function requireOwner(text: string): Address {
  if (!isAddress(text)) throw new RecordRefused(`activity is of ${text}, which is no owner`);
  return text;
}

function createCollected(first: number): CollectedActivity {
  return { first, events: List<OwnerEvent | undefined>(), following: [], isIrregular: false };
}

function isEmpty({ events, following }: CollectedActivity): boolean {
  return events.isEmpty() && following.length === 0;
}

/** The list with those that follow. */
function joinEvents(collected: CollectedActivity): List<OwnerEvent | undefined> {
  const { events, following } = collected;
  if (following.length === 0) return events;
  collected.following = [];
  collected.events = events.isEmpty() ? List(following) : events.push(...following);
  return collected.events;
}

function putEvent(collected: CollectedActivity, eventNumber: number, event: OwnerEvent) {
  const { first, following } = collected;
  if (eventNumber === first + collected.events.size + following.length) {
    following.push(event);
    if (following.length >= followingMax) joinEvents(collected);
    return;
  }
  const events = joinEvents(collected);
  collected.isIrregular = true;
  if (eventNumber >= first) collected.events = events.set(eventNumber - first, event);
  else {
    // A reorganization brings evicted ones back.
    const missing: undefined[] = Array.from({ length: first - eventNumber - 1 });
    collected.events = events.unshift(event, ...missing);
    collected.first = eventNumber;
  }
}

/** A reorganization takes the newest away, an eviction the oldest. */
function dropEvent(collected: CollectedActivity, eventNumber: number) {
  let events = joinEvents(collected);
  const index = eventNumber - collected.first;
  if (index < 0 || index >= events.size) return;
  events = events.set(index, undefined);
  collected.isIrregular = true;
  while (!events.isEmpty() && events.last() === undefined) events = events.pop();
  while (!events.isEmpty() && events.first() === undefined) {
    events = events.shift();
    collected.first++;
  }
  collected.events = events;
}

function requireEvery(owner: string, collected: CollectedActivity): List<OwnerEvent> {
  const events = joinEvents(collected);
  const missing = collected.isIrregular ? events.indexOf(undefined) : -1;
  if (missing !== -1) throw new RecordRefused(`activity of ${owner} ${collected.first + missing} is missing`);
  // None is undefined: only an irregular list may have such, and it was searched.
  return events as List<OwnerEvent>;
}

/** Events in memory of blocks whose events are no rows yet. */
function findProgress(
  owners: ImmutableMap<Address, OwnerState>,
  rowsThroughBlock: bigint | null,
): ActivityProgress {
  const awaited: LoggedActivity[] = [];
  for (const [owner, { activityCount, activity }] of owners) {
    for (let back = 1; back <= activity.size; back++) {
      const event = activity.get(-back) as OwnerEvent;
      const { blockNumber } = event.source;
      if (rowsThroughBlock !== null && blockNumber <= rowsThroughBlock) break;
      awaited.push({ blockNumber, owner, eventNumber: activityCount - back, event });
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
