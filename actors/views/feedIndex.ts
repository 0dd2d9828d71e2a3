import type { ChainFeedEvent } from '../chain/chainFeedEvent.ts';
import { type Arrival, beforeAll, compareArrivals } from '../feed/arrival.ts';
import { type EventWindow, findEventsAfter, findNewestArrival } from '../feed/eventWindow.ts';
import {
  type FeedCategory,
  type FeedType,
  feedCategories,
  isOfCategory,
  type StoredCategory,
} from '../feed/feedCategories.ts';
import type { FeedSource, FeedSources } from '../feed/feedPosition.ts';
import { buildMeasurementId, type MeasurementEvent } from '../feed/measurementEvents.ts';

const sourceCategories: Readonly<Record<FeedSource, readonly StoredCategory[]>> = {
  measurement: ['measurement'],
  chain: ['protocol', 'players'],
};

/** The categories that the events of a source are stored by, as far as a category of the feed shows them. */
export function listStoredCategories(category: FeedCategory, source: FeedSource): readonly StoredCategory[] {
  return sourceCategories[source].filter((one) => category === 'all' || category === one);
}

/** An event as the feed shows it. */
export interface FeedItem extends Arrival {
  readonly id: string;
  readonly type: FeedType;
  readonly source: FeedSource;
  /** Epoch milliseconds; the feed's order is by it. */
  readonly recordedAtMs: number;
  /** When it became visible (epoch milliseconds): the stream's time of the message that {@link Arrival} names. */
  readonly arrivedAtMs: number;
  readonly event: ChainFeedEvent | MeasurementEvent;
}

/** Place of an event in the feed's order. */
export type FeedPlace = Pick<FeedItem, 'recordedAtMs' | 'source' | keyof Arrival>;

/** More new events than this are sorted in together: a start, or a long absence. */
const insertedMax = 64;

/** The events in memory, in the order of the feed, with one list per category. */
export interface FeedIndex {
  /** Takes over the events of the sources; costs as much as what is new, unless a source went back or evicted events. */
  update(sources: FeedSources): void;
  /** At most `limit` events of a category that are older than a place, newest first; null for the newest of all. */
  olderThan(category: FeedCategory, place: FeedPlace | null, limit: number): readonly FeedItem[];
}

export function createFeedIndex({ chainId }: { readonly chainId: bigint }): FeedIndex {
  let taken: FeedSources | null = null;
  /** Oldest first, so that what is new is mostly appended. */
  let ascending = createEmptyLists();

  return {
    update: (sources) => {
      const { measurement, chain } = sources;
      if (measurement.events === taken?.measurement.events && chain.events === taken.chain.events) return;
      const before = taken !== null && areContinuations(taken, sources) ? taken : null;
      if (before === null) ascending = createEmptyLists();
      const added = [
        ...listEventsSince(measurement, before?.measurement).map(toMeasurementItem),
        ...listEventsSince(chain, before?.chain).map((event) => toChainItem(chainId, event)),
      ];
      for (const category of feedCategories) {
        const list = ascending[category];
        const ofCategory = added.filter(({ type }) => isOfCategory(category, type));
        if (ofCategory.length > insertedMax)
          ascending[category] = [...list, ...ofCategory].sort((one, other) => compareShown(other, one));
        else for (const item of ofCategory) list.splice(findFirstNotOlder(list, item), 0, item);
      }
      taken = sources;
    },
    olderThan: (category, place, limit) => {
      const list = ascending[category];
      const end = place === null ? list.length : findFirstNotOlder(list, place);
      return list.slice(Math.max(0, end - limit), end).reverse();
    },
  };
}

/** Whether both sources have the same events as before, and more after them. */
function areContinuations(before: FeedSources, { measurement, chain }: FeedSources): boolean {
  return isContinuationOf(before.measurement, measurement) && isContinuationOf(before.chain, chain);
}

function isContinuationOf<Event extends Arrival>(
  before: EventWindow<Event>,
  window: EventWindow<Event>,
): boolean {
  if (window.run !== before.run || window.evicted.through !== before.evicted.through) return false;
  const { size } = before.events;
  return size === 0 || window.events.get(size - 1) === before.events.last();
}

function listEventsSince<Event extends Arrival>(
  window: EventWindow<Event>,
  before: EventWindow<Event> | undefined,
): Event[] {
  const after = (before === undefined ? null : findNewestArrival(before)) ?? beforeAll;
  return findEventsAfter(window, after).toArray();
}

function createEmptyLists(): Record<FeedCategory, FeedItem[]> {
  return { all: [], protocol: [], players: [], measurement: [] };
}

/**
 * Negative when `one` is shown before `other` (CONTRACT.md, Feed order): the one that was recorded later; of the same
 * time one of the chain before a measurement, and of one source the one that arrived later.
 */
export function compareShown(one: FeedPlace, other: FeedPlace): number {
  if (one.recordedAtMs !== other.recordedAtMs) return other.recordedAtMs - one.recordedAtMs;
  if (one.source !== other.source) return one.source === 'chain' ? -1 : 1;
  return compareArrivals(other, one);
}

/** Index of the first element that is not older than the place. */
function findFirstNotOlder(list: readonly FeedItem[], place: FeedPlace): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareShown(place, list[middle] as FeedItem) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function toChainItem(chainId: bigint, event: ChainFeedEvent): FeedItem {
  const { details, address, source, recordedAtMs, position, ordinal } = event;
  const { type } = details;
  const id = `chain:${chainId}:${address}:${source.transactionHash}:${source.logIndex}:${type}`;
  return { id, type, source: 'chain', recordedAtMs, arrivedAtMs: recordedAtMs, position, ordinal, event };
}

export function toMeasurementItem(event: MeasurementEvent): FeedItem {
  const { achievement, installationId, receivedAtMs, arrivedAtMs, position, ordinal } = event;
  return {
    id: buildMeasurementId(installationId, achievement),
    type: achievement.type,
    source: 'measurement',
    recordedAtMs: receivedAtMs,
    arrivedAtMs,
    position,
    ordinal,
    event,
  };
}
