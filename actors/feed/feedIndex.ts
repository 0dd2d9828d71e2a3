import type { ChainFeedEvent } from '../chain/chainState.ts';
import type { HeldEvents } from './heldEvents.ts';
import { discriminatorOf, type MeasurementEvent, measurementPolicyVersion } from './measurementEvents.ts';

export const feedCategories = ['all', 'protocol', 'players', 'measurement'] as const;
export type FeedCategory = (typeof feedCategories)[number];

/** Types by the category that they are of; `measurement.rpm_record` is of the schema alone. */
export const feedTypes = {
  'system.settlement_completed': 'protocol',
  'system.mining_checkpointed': 'protocol',
  'player.miner_minted': 'players',
  'player.miners_merged': 'players',
  'player.rewards_claimed': 'players',
  'measurement.distance_milestone': 'measurement',
  'measurement.daily_distance_milestone': 'measurement',
  'measurement.speed_milestone': 'measurement',
  'measurement.speed_record': 'measurement',
  'measurement.distance_streak': 'measurement',
} as const satisfies Record<string, FeedCategory>;
export type FeedType = keyof typeof feedTypes;

export function isOfCategory(category: FeedCategory, type: FeedType): boolean {
  return category === 'all' || feedTypes[type] === category;
}

/** An event as the feed holds it. */
export interface FeedItem {
  readonly id: string;
  readonly type: FeedType;
  /** Epoch milliseconds; the feed's order is by it. */
  readonly recordedAtMs: number;
  readonly event: ChainFeedEvent | MeasurementEvent;
}

/** Place of an event in the feed's order. */
export type FeedPlace = Pick<FeedItem, 'recordedAtMs' | 'id'>;

/** More new events than this are sorted in together: a start, or a long absence. */
const insertedMax = 64;

/** What the feed is made of. */
export interface FeedSources {
  readonly measurement: HeldEvents<MeasurementEvent>;
  readonly chain: HeldEvents<ChainFeedEvent>;
}

/** The events that are held, in the order of the feed, each category apart. */
export interface FeedIndex {
  /**
   * Takes what the sources hold now; costs as much as what is new, unless a source went back or gave events up.
   *
   * @returns events that were not here before, oldest first; none of those that it begins with.
   */
  update(sources: FeedSources): readonly FeedItem[];
  /** At most `limit` events of a category that are newer than a place, oldest first. */
  newerThan(category: FeedCategory, place: FeedPlace, limit: number): readonly FeedItem[];
  /** At most `limit` events of a category that are older than a place, newest first; null for the newest of all. */
  olderThan(category: FeedCategory, place: FeedPlace | null, limit: number): readonly FeedItem[];
}

export function createFeedIndex({ chainId }: { readonly chainId: bigint }): FeedIndex {
  let taken: FeedSources | null = null;
  /** Oldest first, so that what is new is mostly appended. */
  let ascending = emptyLists();
  /** Events that are here, and that were: one that comes back with a source that went back is not new. */
  let known: Set<string> | null = null;

  function update(sources: FeedSources) {
    const { measurement, chain } = sources;
    if (measurement.events === taken?.measurement.events && chain.events === taken.chain.events) return [];
    const before = taken !== null && goesOn(taken, sources) ? taken : null;
    if (before === null) ascending = emptyLists();
    const added = [
      ...eventsSince(measurement, before?.measurement).map(measurementItem),
      ...eventsSince(chain, before?.chain).map((event) => chainItem(chainId, event)),
    ];
    for (const category of feedCategories) {
      const list = ascending[category];
      const ofCategory = added.filter(({ type }) => isOfCategory(category, type));
      if (ofCategory.length > insertedMax) ascending[category] = [...list, ...ofCategory].sort(oldestFirst);
      else for (const item of ofCategory) list.splice(firstNotOlder(list, item), 0, item);
    }
    const fresh = known === null ? [] : added.filter(({ id }) => !known?.has(id));
    const isShorter = taken !== null && givenUpOf(sources) > givenUpOf(taken);
    if (known === null || isShorter) known = new Set(ascending.all.map(({ id }) => id));
    else for (const { id } of fresh) known.add(id);
    taken = { measurement, chain };
    return fresh.sort(oldestFirst);
  }

  return {
    update,
    newerThan: (category, place, limit) => {
      const list = ascending[category];
      const from = firstNotOlder(list, place);
      const first = list[from]?.id === place.id ? from + 1 : from;
      return list.slice(first, first + limit);
    },
    olderThan: (category, place, limit) => {
      const list = ascending[category];
      const end = place === null ? list.length : firstNotOlder(list, place);
      return list.slice(Math.max(0, end - limit), end).reverse();
    },
  };
}

/** Whether both sources hold what they held, and more behind it. */
function goesOn(before: FeedSources, { measurement, chain }: FeedSources): boolean {
  return isContinued(before.measurement, measurement) && isContinued(before.chain, chain);
}

function isContinued<Event>(before: HeldEvents<Event>, held: HeldEvents<Event>): boolean {
  if (held.givenUp.count !== before.givenUp.count) return false;
  const { size } = before.events;
  return size === 0 || held.events.get(size - 1) === before.events.last();
}

function eventsSince<Event>(held: HeldEvents<Event>, before: HeldEvents<Event> | undefined): Event[] {
  return held.events.skip(before?.events.size ?? 0).toArray();
}

function givenUpOf({ measurement, chain }: FeedSources): number {
  return measurement.givenUp.count + chain.givenUp.count;
}

/**
 * At most `limit` of events that were found in several places, each once.
 *
 * @param isNewestFirst the order in which they are wanted, and cut off.
 */
export function mergedItems(
  found: readonly (readonly FeedItem[])[],
  limit: number,
  isNewestFirst: boolean,
): FeedItem[] {
  const byId = new Map(found.flat().map((item) => [item.id, item]));
  const ordered = [...byId.values()].sort(oldestFirst);
  if (isNewestFirst) ordered.reverse();
  return ordered.slice(0, limit);
}

function emptyLists(): Record<FeedCategory, FeedItem[]> {
  return { all: [], protocol: [], players: [], measurement: [] };
}

/** Whether `one` comes before `other` when the newest is shown first; of the same time the smaller ID does. */
function isShownBefore(one: FeedPlace, other: FeedPlace): boolean {
  if (one.recordedAtMs !== other.recordedAtMs) return one.recordedAtMs > other.recordedAtMs;
  return one.id < other.id;
}

function oldestFirst(one: FeedPlace, other: FeedPlace): number {
  return isShownBefore(one, other) ? 1 : -1;
}

/** Index of the first element that is not older than the place. */
function firstNotOlder(list: readonly FeedItem[], place: FeedPlace): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isShownBefore(place, list[middle] as FeedItem)) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function chainItem(chainId: bigint, event: ChainFeedEvent): FeedItem {
  const { details, address, source, recordedAtMs } = event;
  const { type } = details;
  const id = `chain:${chainId}:${address}:${source.transactionHash}:${source.logIndex}:${type}`;
  return { id, type, recordedAtMs, event };
}

export function measurementItem(event: MeasurementEvent): FeedItem {
  const { achievement, installationId, receivedAtMs } = event;
  const { type } = achievement;
  const id = `measurement:${installationId}:${measurementPolicyVersion}:${type}:${discriminatorOf(achievement)}`;
  return { id, type, recordedAtMs: receivedAtMs, event };
}
