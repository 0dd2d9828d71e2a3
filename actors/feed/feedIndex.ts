import type { List } from 'immutable';
import type { ChainFeedEvent } from '../chain/chainState.ts';
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

/** All events in the order of the feed, each category apart. */
export interface FeedIndex {
  /**
   * Takes what the sources hold now; costs as much as what is new, unless a source went back.
   *
   * @returns events that were not here before, oldest first; none of those that it begins with.
   */
  update(measurement: readonly MeasurementEvent[], chain: List<ChainFeedEvent> | null): readonly FeedItem[];
  /** At most `limit` events of a category that are newer than a place, oldest first. */
  newerThan(category: FeedCategory, place: FeedPlace, limit: number): readonly FeedItem[];
  /** At most `limit` events of a category behind a place, newest first, and whether there are more. */
  page(
    category: FeedCategory,
    after: FeedPlace | null,
    limit: number,
  ): { readonly items: readonly FeedItem[]; readonly hasMore: boolean };
}

export function createFeedIndex({ chainId }: { readonly chainId: bigint }): FeedIndex {
  let taken: { measurement: readonly MeasurementEvent[]; chain: List<ChainFeedEvent> | null } = {
    measurement: [],
    chain: null,
  };
  /** Oldest first, so that what is new is mostly appended. */
  let ascending = emptyLists();
  /** Every event that was ever here: one that comes back with a source that went back is not new. */
  let known: Set<string> | null = null;

  function update(measurement: readonly MeasurementEvent[], chain: List<ChainFeedEvent> | null) {
    if (measurement === taken.measurement && chain === taken.chain) return [];
    const goesOn =
      measurement.length >= taken.measurement.length &&
      measurement[taken.measurement.length - 1] === taken.measurement.at(-1) &&
      (chain?.size ?? 0) >= (taken.chain?.size ?? 0) &&
      (taken.chain === null ||
        taken.chain.size === 0 ||
        chain?.get(taken.chain.size - 1) === taken.chain.last());
    if (!goesOn) {
      ascending = emptyLists();
      taken = { measurement: [], chain: null };
    }
    const added = measurement.slice(taken.measurement.length).map(measurementItem);
    for (let index = taken.chain?.size ?? 0; index < (chain?.size ?? 0); index++)
      added.push(chainItem(chainId, chain?.get(index) as ChainFeedEvent));
    for (const category of feedCategories) {
      const list = ascending[category];
      const ofCategory =
        category === 'all' ? added : added.filter(({ type }) => feedTypes[type] === category);
      if (ofCategory.length > insertedMax) ascending[category] = [...list, ...ofCategory].sort(oldestFirst);
      else for (const item of ofCategory) list.splice(firstNotOlder(list, item), 0, item);
    }
    taken = { measurement, chain };
    const isFirst = known === null;
    const seen = known ?? new Set<string>();
    known = seen;
    const fresh = added.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    return isFirst ? [] : fresh.sort(oldestFirst);
  }

  return {
    update,
    newerThan: (category, place, limit) => {
      const list = ascending[category];
      const from = firstNotOlder(list, place);
      const first = list[from]?.id === place.id ? from + 1 : from;
      return list.slice(first, first + limit);
    },
    page: (category, after, limit) => {
      const list = ascending[category];
      const end = after === null ? list.length : firstNotOlder(list, after);
      const items = list.slice(Math.max(0, end - limit), end).reverse();
      return { items, hasMore: end > limit };
    },
  };
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

function chainItem(chainId: bigint, event: ChainFeedEvent): FeedItem {
  const { details, address, source, recordedAtMs } = event;
  const { type } = details;
  const id = `chain:${chainId}:${address}:${source.transactionHash}:${source.logIndex}:${type}`;
  return { id, type, recordedAtMs, event };
}

function measurementItem(event: MeasurementEvent): FeedItem {
  const { achievement, installationId, receivedAtMs } = event;
  const { type } = achievement;
  const id = `measurement:${installationId}:${measurementPolicyVersion}:${type}:${discriminatorOf(achievement)}`;
  return { id, type, recordedAtMs: receivedAtMs, event };
}
