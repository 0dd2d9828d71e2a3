import { cacheView } from '../../caching/cacheView.ts';
import { createEventChecks, type EventFilter, listStoredKeys } from '../../feed/eventFilter.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import { type FeedCategory, type FeedType, feedTypes, isOfCategory } from '../../feed/feedCategories.ts';
import { compareShown, type FeedItem, type FeedPlace } from '../../feed/feedItem.ts';
import { type FeedSource, type FeedSources, feedSources } from '../../feed/feedPosition.ts';
import { findEvictedSource, type OlderEvents } from '../../pages/olderRows.ts';
import { listKeys } from '../../schemas/listKeys.ts';
import type { MeasurementProgress } from '../../wheel/measurementEvents.ts';
import type { ChainViews } from '../chain/chainViews.ts';
import type { EconomyView } from '../chain/coreViews.ts';
import { chainUnavailableReasons } from '../chain/shownStates.ts';
import { decodeFeedCursor, encodeFeedCursor } from './feedCursor.ts';
import { createFeedIndex } from './feedIndex.ts';
import { nothingMeasured } from './feedNews.ts';

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

  /** Stored events below a place, from the sources with evicted events: all that meet the filter, and perhaps others. */
  async function storedBefore(
    sources: FeedSources,
    query: { readonly filter: EventFilter; readonly place: FeedPlace | null; readonly limit: number },
    signal: AbortSignal,
  ): Promise<FeedItem[]> {
    const { filter, place, limit } = query;
    const stored = await Promise.all(
      feedSources.map((source) => {
        const keys = listStoredKeys(filter, source);
        const of = findEvictedSource(sources, source);
        if (of === null || keys.length === 0) return [];
        return olderEvents.before(of, { keys, place, fromMs: filter.fromMs, limit }, signal);
      }),
    );
    return stored.flat().map(toFeedItem);
  }

  return {
    inputs: () => [chain.economy(), progress()],
    page: ({ filter, limit, cursor }, signal) => {
      const { category, fromMs, toMs } = filter;
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
      const [index, sources] = [findIndexFor(economy), readSources(economy)];
      index.update(sources);
      const buildPage = (items: readonly FeedItem[]): FeedPage => ({
        ...context,
        category,
        activeEventTypes,
        events: items.slice(0, limit).filter(buildCheck(filter)),
        nextCursor: items.length > limit ? encodeFeedCursor(category, items[limit - 1] as FeedPlace) : null,
      });
      const place = after ?? (toMs === null ? null : findPlaceOf(toMs));
      // One event more than the page shows whether a next page exists.
      const inMemory = index.olderThan(filter, place, limit + 1);
      const reachesTo = inMemory[limit]?.recordedAtMs ?? fromMs ?? Number.NEGATIVE_INFINITY;
      if (isInMemoryFrom(sources, filter, reachesTo)) return buildPage(inMemory);
      const query = { filter, place, limit: limit + 1 };
      return storedBefore(sources, query, signal).then((older) =>
        buildPage([...inMemory, ...older].sort(compareShown)),
      );
    },
  };
}

function listTypes(category: FeedCategory, source: FeedSource): FeedType[] {
  return listKeys(feedTypes).filter(
    (type) =>
      isOfCategory(category, type) && (feedTypes[type] === 'measurement') === (source === 'measurement'),
  );
}

/** Whether memory holds every event that meets a filter and was recorded at or after a time. */
function isInMemoryFrom(sources: FeedSources, filter: EventFilter, timeMs: number): boolean {
  return feedSources.every((source) => {
    const { through, throughMs } = sources[source].evicted;
    return through === null || throughMs < timeMs || listStoredKeys(filter, source).length === 0;
  });
}

/** The place below which all events were recorded before a time. At the same time, measurements come last. */
function findPlaceOf(timeMs: number): FeedPlace {
  return { recordedAtMs: timeMs, source: 'measurement', position: -1, ordinal: -1 };
}
