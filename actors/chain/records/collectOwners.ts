import { Map as ImmutableMap, List } from 'immutable';
import { RecordRefused, type RecordValue, readRecords } from '../../foldRecord.ts';
import { type Address, isAddress } from '../../schemas/hex.ts';
import { findFirstInMemory } from '../rows/activityRows.ts';
import type { MinerPosition } from '../state/miningState.ts';
import type { ActivityProgress, LoggedActivity, OwnerEvent, OwnerState } from '../state/ownerState.ts';
import { chainRecords } from './chainRecords.ts';

/** An owner's events in memory, while they are collected. */
interface CollectedActivity {
  first: number;
  events: List<OwnerEvent | undefined>;
  /** Whether events may be missing in between. */
  isIrregular: boolean;
}

type EventValue = RecordValue<typeof chainRecords.activity>;
type PositionValue = RecordValue<typeof chainRecords.position>;

/**
 * Collects positions and owners from their records. Maps and lists grow with the records, so that completion, which blocks the event
 * loop, has little left to do. Equal addresses share one string, since they are very frequent.
 */
export function collectOwners() {
  const minerPositions = ImmutableMap<number, MinerPosition>().asMutable();
  const tokens = new Map<Address, number[]>();
  /** Owners whose tokens are not sorted yet. */
  const unsorted = new Set<Address>();
  const activities = new Map<Address, CollectedActivity>();
  const counts = new Map<Address, number>();
  const logged = List<LoggedActivity>().asMutable();
  const addresses = new Map<string, Address>();
  const owners = ImmutableMap<Address, OwnerState>().asMutable();
  /** Owners whose state must be rebuilt from their records. */
  const outdated = new Set<Address>();
  let latest: Place = { block: 0, withinBlock: 0 };
  let isLoggedInOrder = true;

  function share(address: Address): Address {
    const known = addresses.get(address);
    if (known === undefined) addresses.set(address, address);
    return known ?? address;
  }

  function requireOwner(text: string): Address {
    const known = addresses.get(text);
    if (known !== undefined) return known;
    if (!isAddress(text)) throw new RecordRefused(`activity belongs to ${text}, which is not an address`);
    return share(text);
  }

  function takePosition(position: PositionValue | null, key: string) {
    const tokenId = Number(key);
    const before = minerPositions.get(tokenId);
    if (position === null) minerPositions.delete(tokenId);
    else {
      position.owner = share(position.owner);
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
    unsorted.add(position.owner);
    outdated.add(position.owner);
  }

  function takeEvent(event: EventValue | null, key: string) {
    const slash = key.indexOf('/');
    const owner = requireOwner(key.slice(0, slash));
    const eventNumber = Number(key.slice(slash + 1));
    const collected = activities.get(owner) ?? { first: eventNumber, events: List(), isIrregular: false };
    if (event === null) dropEvent(collected, eventNumber);
    else {
      event.address = share(event.address);
      if (event.from !== null) event.from = share(event.from);
      if (event.to !== null) event.to = share(event.to);
      putEvent(collected, eventNumber, event);
      log(owner, eventNumber, event);
    }
    if (collected.events.isEmpty()) activities.delete(owner);
    else activities.set(owner, collected);
    if (collected.isIrregular) outdated.add(owner);
    else build(owner);
  }

  function log(owner: Address, eventNumber: number, event: OwnerEvent) {
    const place = findPlace(owner, event);
    if (comparePlaces(latest, place) > 0) isLoggedInOrder = false;
    latest = place;
    logged.push({ blockNumber: event.source.blockNumber, owner, eventNumber });
  }

  function takeCount(count: number | null, key: string) {
    const owner = requireOwner(key);
    if (count === null) counts.delete(owner);
    else counts.set(owner, count);
    outdated.add(owner);
  }

  function build(owner: Address) {
    outdated.delete(owner);
    const collected = activities.get(owner);
    const activity = collected === undefined ? List<OwnerEvent>() : requireEvery(owner, collected);
    const activityCount =
      collected === undefined ? (counts.get(owner) ?? 0) : collected.first + activity.size;
    const tokenIds = sortTokens(owner);
    if (tokenIds.length + activityCount > 0) owners.set(owner, { tokenIds, activityCount, activity });
    else owners.delete(owner);
  }

  function sortTokens(owner: Address): readonly number[] {
    const tokenIds = tokens.get(owner) ?? [];
    if (unsorted.delete(owner)) tokenIds.sort((a, b) => a - b);
    return tokenIds;
  }

  /** The events in memory, in the order of the chain. A snapshot usually has them in that order. */
  function listLogged(): List<LoggedActivity> {
    const count = owners.reduce((sum, { activity }) => sum + activity.size, 0);
    const first = logged.findIndex((one) => isInMemory(owners.get(one.owner), one));
    const rest = logged.asImmutable().skip(first === -1 ? logged.size : first);
    // A difference in number means that an event came twice or was removed later.
    return isLoggedInOrder && rest.size === count ? rest : sortLogged(owners);
  }

  return {
    readers: [
      readRecords(chainRecords.position, takePosition),
      readRecords(chainRecords.activity, takeEvent),
      readRecords(chainRecords.activityCount, takeCount),
    ],
    /** @throws RecordRefused if an event is missing in between. */
    complete(rowsThroughBlock: bigint | null) {
      for (const owner of outdated) build(owner);
      const activityProgress = findProgress(listLogged(), rowsThroughBlock);
      return { minerPositions: minerPositions.asImmutable(), owners: owners.asImmutable(), activityProgress };
    },
  };
}

function putEvent(collected: CollectedActivity, eventNumber: number, event: OwnerEvent) {
  const { first, events } = collected;
  collected.isIrregular ||= eventNumber !== first + events.size;
  if (eventNumber >= first) collected.events = events.set(eventNumber - first, event);
  else {
    // A reorganization brings evicted events back.
    const missing: undefined[] = Array.from({ length: first - eventNumber - 1 });
    collected.events = events.unshift(event, ...missing);
    collected.first = eventNumber;
  }
}

/** Removes an event: a reorganization removes the newest events, an eviction the oldest. */
function dropEvent(collected: CollectedActivity, eventNumber: number) {
  let { events } = collected;
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

function requireEvery(owner: string, { first, events, isIrregular }: CollectedActivity): List<OwnerEvent> {
  const missing = isIrregular ? events.indexOf(undefined) : -1;
  if (missing !== -1) throw new RecordRefused(`activity of ${owner} ${first + missing} is missing`);
  // Only an irregular list may contain undefined, and it was searched.
  return events as List<OwnerEvent>;
}

/** Place of a log on the chain, in numbers, which compare much faster than bigints. */
interface Place {
  readonly block: number;
  /** In a transfer, the sender's event comes before the receiver's. */
  readonly withinBlock: number;
}

function findPlace(owner: Address, { source, from }: OwnerEvent): Place {
  return { block: Number(source.blockNumber), withinBlock: 2 * source.logIndex + (owner === from ? 0 : 1) };
}

const comparePlaces = (one: Place, other: Place) =>
  one.block - other.block || one.withinBlock - other.withinBlock;

function isInMemory(known: OwnerState | undefined, { eventNumber }: LoggedActivity): boolean {
  return known !== undefined && eventNumber >= findFirstInMemory(known) && eventNumber < known.activityCount;
}

/** Lists the events of all owners in the order of the chain. */
function sortLogged(owners: ImmutableMap<Address, OwnerState>): List<LoggedActivity> {
  const all: { readonly place: Place; readonly entry: LoggedActivity }[] = [];
  for (const [owner, known] of owners) {
    let eventNumber = findFirstInMemory(known);
    for (const event of known.activity) {
      const { blockNumber } = event.source;
      all.push({ place: findPlace(owner, event), entry: { blockNumber, owner, eventNumber } });
      eventNumber++;
    }
  }
  all.sort((one, other) => comparePlaces(one.place, other.place));
  return List(all.map(({ entry }) => entry));
}

function findProgress(logged: List<LoggedActivity>, rowsThroughBlock: bigint | null): ActivityProgress {
  const through = rowsThroughBlock ?? -1n;
  const rowCount = logged.findLastIndex(({ blockNumber }) => blockNumber <= through) + 1;
  return { rowsThroughBlock, logged, rowCount };
}
