import { type Arrival, beforeFirst } from '../../events/arrival.ts';
import { type EventWindow, findEventsAfter, findNewestArrival } from '../../events/eventWindow.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import type { BuildEventCheck, EventFilter } from '../../feed/eventFilter.ts';
import { type FeedCategory, feedCategories, isOfCategory } from '../../feed/feedCategories.ts';
import {
  compareShown,
  type FeedItem,
  type FeedPlace,
  toChainItem,
  toMeasurementItem,
} from '../../feed/feedItem.ts';
import type { FeedSources } from '../../feed/feedPosition.ts';

/** More new events than this are sorted together, as after a start or a long absence. Another number gives the same order. */
const insertedMax = 64;

/** The events in memory, in the order of the feed, with one list per category. */
export function createFeedIndex(chainId: bigint, buildCheck: BuildEventCheck) {
  let taken: FeedSources | null = null;
  /** Oldest first, so that new events are mostly appended. */
  let ascending = createEmptyLists();

  return {
    /** Takes over the events of the sources. The cost depends on the new events only, unless a source went back or evicted events. */
    update: (sources: FeedSources) => {
      const { measurement, chain } = sources;
      if (measurement.events === taken?.measurement.events && chain.events === taken.chain.events) return;
      const isContinued =
        taken !== null &&
        isContinuationOf(taken.measurement, measurement) &&
        isContinuationOf(taken.chain, chain);
      const before = isContinued ? taken : null;
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
    /** At most `limit` events that meet a filter below a place, newest first; the newest events for null. */
    olderThan: (filter: EventFilter, place: FeedPlace | null, limit: number): readonly FeedItem[] => {
      const list = ascending[filter.category];
      const end = place === null ? list.length : findFirstNotOlder(list, place);
      const meets = buildCheck(filter);
      const found: FeedItem[] = [];
      for (let at = end - 1; at >= 0 && found.length < limit; at--) {
        const item = list[at] as FeedItem;
        if (meets(item)) found.push(item);
      }
      return found;
    },
  };
}

/** Whether events were only added at the end. After an eviction, another event is at each place. */
function isContinuationOf<Event extends Arrival>(
  before: EventWindow<Event>,
  window: EventWindow<Event>,
): boolean {
  const { size } = before.events;
  return size === 0 || window.events.get(size - 1) === before.events.last();
}

function listEventsSince<Event extends Arrival>(
  window: EventWindow<Event>,
  before: EventWindow<Event> | undefined,
): Event[] {
  const after = (before === undefined ? null : findNewestArrival(before)) ?? beforeFirst;
  return findEventsAfter(window, after).toArray();
}

function createEmptyLists(): Record<FeedCategory, FeedItem[]> {
  return { all: [], protocol: [], players: [], measurement: [] };
}

function findFirstNotOlder(list: readonly FeedItem[], place: FeedPlace): number {
  return findFirstIndex(list.length, (index) => compareShown(place, list[index] as FeedItem) >= 0);
}
