import { cacheView } from '../../caching/cacheView.ts';
import { type Arrival, beforeFirst } from '../../events/arrival.ts';
import { type EventWindow, findEventsAfter, findNewestArrival } from '../../events/eventWindow.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import {
  type BuildEventCheck,
  createEventChecks,
  type EventFilter,
  listStoredKeys,
} from '../../feed/eventFilter.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import {
  type FeedCategory,
  type FeedSource,
  type FeedSources,
  type FeedType,
  feedCategories,
  feedSources,
  feedTypes,
  isOfCategory,
  nothingMeasured,
} from '../../feed/feedCategories.ts';
import {
  compareShown,
  decodeFeedCursor,
  encodeFeedCursor,
  type FeedItem,
  type FeedPlace,
  toChainItem,
  toMeasurementItem,
} from '../../feed/feedItem.ts';
import type { EvictedSource, OlderEvents } from '../../pages/olderRows.ts';
import { type TwoPartList, twoPartPage } from '../../pages/twoPartPage.ts';
import { listKeys } from '../../schemas/listKeys.ts';
import type { MeasurementProgress } from '../../wheel/measurementEvents.ts';
import type { ChainViews } from '../chain/chainViews.ts';
import type { EconomyView } from '../chain/coreViews.ts';
import { chainUnavailableReasons } from '../chain/shownStates.ts';

export const feedUnavailableReasons = [...chainUnavailableReasons, 'source_disabled'] as const;
type FeedUnavailableReason = (typeof feedUnavailableReasons)[number];

export interface FeedRequest {
  readonly filter: EventFilter;
  readonly limit: number;
  /** Null for the newest events. */
  readonly cursor: string | null;
}

/** One page of the feed, newest first. A page may have fewer events than its limit although another one follows. */
export interface FeedPage extends Omit<EconomyView, 'feed'> {
  readonly category: FeedCategory;
  /** Types that the category can contain at the moment. */
  readonly activeEventTypes: readonly FeedType[];
  readonly events: readonly FeedItem[];
  readonly nextCursor: string | null;
}

export interface FeedUnavailable {
  readonly status: 'unavailable';
  readonly installationId: string;
  readonly reason: FeedUnavailableReason;
}

export interface FeedViews {
  /** The values behind pages in memory: while each is the same (`===`), so are the pages. */
  inputs(): readonly unknown[];
  /**
   * A value if the page is in memory, else a promise, which may reject with RecordsUnavailable. `undecodable` for an invalid cursor or
   * another category's cursor.
   */
  page(
    request: FeedRequest,
    signal: AbortSignal,
  ): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' } | Promise<FeedPage>;
}

interface FeedViewsOptions {
  readonly installationId: string;
  readonly chain: Pick<ChainViews, 'economy'>;
  /** Null before the first reading of the installation. */
  readonly progress: () => MeasurementProgress | null;
  readonly olderEvents: OlderEvents;
}

/** The feed of both sources. Measurements are a source once the first reading is accepted. */
export function createFeedViews(options: FeedViewsOptions): FeedViews {
  const { installationId, chain, progress, olderEvents } = options;
  const buildCheck = createEventChecks();
  const findIndexFor = cacheView({
    inputs: ({ chain: { chainId } }: EconomyView) => [chainId],
    compute: (chainId) => createFeedIndex(chainId, buildCheck),
  });

  function readSources(economy: EconomyView): FeedSources {
    return { measurement: progress() ?? nothingMeasured, chain: economy.feed };
  }

  /** The events that meet a filter, newest first. Rows meet one of its conditions, and may not meet the others. */
  function captureList(economy: EconomyView, filter: EventFilter): TwoPartList<FeedItem, FeedPlace | null> {
    const [index, sources] = [findIndexFor(economy), readSources(economy)];
    index.update(sources);
    const evicted = feedSources.flatMap((source) => {
      const [of, keys] = [findEvictedSource(sources, source), listStoredKeys(filter, source)];
      return of === null || keys.length === 0 ? [] : [{ of, keys }];
    });
    const { fromMs } = filter;
    return {
      compare: compareShown,
      findKey: ({ id }) => id,
      listInMemory: (place, most) => index.olderThan(filter, place, most),
      isAboveFloor: (_place, last) => {
        const reachesTo = last?.recordedAtMs ?? fromMs ?? Number.NEGATIVE_INFINITY;
        return evicted.every(({ of }) => of.evicted.throughMs < reachesTo);
      },
      readRows: async (place, limit, signal) => {
        const rows = await Promise.all(
          evicted.map(({ of, keys }) => olderEvents.before(of, { keys, place, fromMs, limit }, signal)),
        );
        return rows.flat().map(toFeedItem);
      },
    };
  }

  return {
    inputs: () => [chain.economy(), progress()],
    page: ({ filter, limit, cursor }, signal) => {
      const { category, toMs } = filter;
      const after = cursor === null ? null : decodeFeedCursor(category, cursor);
      if (cursor !== null && after === null) return { fault: 'undecodable' };
      const economy = chain.economy();
      if (economy.status === 'unavailable')
        return { status: 'unavailable', installationId, reason: economy.reason };
      const activeEventTypes = [
        ...listTypes(category, 'chain'),
        ...(progress() === null ? [] : listTypes(category, 'measurement')),
      ];
      if (activeEventTypes.length === 0)
        return { status: 'unavailable', installationId, reason: 'source_disabled' };
      const { feed: _events, ...context } = economy;
      const buildPage = (items: readonly FeedItem[]): FeedPage => ({
        ...context,
        category,
        activeEventTypes,
        events: items.slice(0, limit).filter(buildCheck(filter)),
        nextCursor: items.length > limit ? encodeFeedCursor(category, items[limit - 1] as FeedPlace) : null,
      });
      const place = after ?? (toMs === null ? null : findPlaceOf(toMs));
      // One event more than the page shows whether a next page exists.
      const found = twoPartPage(captureList(economy, filter), place, limit + 1, signal);
      return found instanceof Promise ? found.then(buildPage) : buildPage(found);
    },
  };
}

const allTypes = listKeys(feedTypes);

function listTypes(category: FeedCategory, source: FeedSource): FeedType[] {
  return allTypes.filter(
    (type) =>
      isOfCategory(category, type) && (feedTypes[type] === 'measurement') === (source === 'measurement'),
  );
}

/** The place below which all events were recorded before a time. At the same time, measurements come last. */
function findPlaceOf(timeMs: number): FeedPlace {
  return { recordedAtMs: timeMs, source: 'measurement', position: -1, ordinal: -1 };
}

/** More new events than this are sorted together, as after a start or a long absence. Another number gives the same order. */
const insertedMax = 64;

/** The events in memory, in the order of the feed, with one list per category. */
function createFeedIndex(chainId: bigint, buildCheck: BuildEventCheck) {
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

/** The source, if it has evicted events; otherwise null. */
function findEvictedSource(sources: FeedSources, source: FeedSource): EvictedSource | null {
  const { evicted } = sources[source];
  const { through } = evicted;
  return through === null ? null : { source, evicted: { ...evicted, through } };
}
