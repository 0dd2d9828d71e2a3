import { cacheView } from '../../caching/cacheView.ts';
import { memoizeByIdentity } from '../../caching/memoizeByIdentity.ts';
import type { ChainFeedEvent } from '../../events/eventSchemas.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import { createEventChecks, type EventFilter, listStoredKeys } from '../../feed/eventFilter.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import {
  compareShown,
  decodeFeedCursor,
  encodeFeedCursor,
  type FeedCategory,
  type FeedItem,
  type FeedPlace,
  type FeedSource,
  type FeedSources,
  type FeedType,
  feedSources,
  feedTypes,
  isOfCategory,
  nothingMeasured,
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

interface FeedViewsOptions {
  readonly installationId: string;
  readonly chain: Pick<ChainViews, 'economy'>;
  /** Null before the first reading of the installation. */
  readonly progress: () => MeasurementProgress | null;
  readonly olderEvents: OlderEvents;
}

export type FeedViews = ReturnType<typeof createFeedViews>;

/** The feed of both sources. Measurements are a source once the first reading is accepted. */
export function createFeedViews(options: FeedViewsOptions) {
  const { installationId, chain, progress, olderEvents } = options;
  const buildCheck = createEventChecks();
  // Each event keeps its item, by which its keys are remembered.
  const toMeasured = memoizeByIdentity(toMeasurementItem);
  const findToChained = cacheView({
    inputs: (chainId: bigint) => [chainId],
    compute: (chainId) => memoizeByIdentity((event: ChainFeedEvent) => toChainItem(chainId, event)),
  });
  /** The events in memory, newest first. */
  const listShown = cacheView({
    inputs: ({ measurement, chain: { events } }: FeedSources, chainId: bigint) => [
      measurement.events,
      events,
      findToChained(chainId),
    ],
    compute: (measured, chained, toChained) =>
      [...measured.toArray().map(toMeasured), ...chained.toArray().map(toChained)].sort(compareShown),
  });

  function readSources(economy: EconomyView): FeedSources {
    return { measurement: progress() ?? nothingMeasured, chain: economy.feed };
  }

  /** The events that meet a filter, newest first. Rows meet one of its conditions, and may not meet the others. */
  function captureList(economy: EconomyView, filter: EventFilter): TwoPartList<FeedItem, FeedPlace | null> {
    const sources = readSources(economy);
    const [shown, meets] = [listShown(sources, economy.chain.chainId), buildCheck(filter)];
    const evicted = feedSources.flatMap((source) => {
      const [of, keys] = [findEvictedSource(sources, source), listStoredKeys(filter, source)];
      return of === null || keys.length === 0 ? [] : [{ of, keys }];
    });
    const { fromMs } = filter;
    return {
      compare: compareShown,
      findKey: ({ id }) => id,
      listInMemory: (place, most) => {
        const isBelow = (at: number) => place === null || compareShown(shown[at] as FeedItem, place) > 0;
        const found: FeedItem[] = [];
        for (let at = findFirstIndex(shown.length, isBelow); at < shown.length && found.length < most; at++)
          if (meets(shown[at] as FeedItem)) found.push(shown[at] as FeedItem);
        return found;
      },
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
    /** The values behind pages: while each is the same (`===`), so are the pages. */
    inputs: () => [chain.economy(), progress()],
    /**
     * A value if the page is in memory, else a promise, which may reject with StoreUnavailable. `undecodable` for an invalid cursor or another category's
     * cursor.
     */
    page: (
      { filter, limit, cursor }: FeedRequest,
      signal: AbortSignal,
    ): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' } | Promise<FeedPage> => {
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

/** The source, if it has evicted events; otherwise null. */
function findEvictedSource(sources: FeedSources, source: FeedSource): EvictedSource | null {
  const { evicted } = sources[source];
  const { through } = evicted;
  return through === null ? null : { source, evicted: { ...evicted, through } };
}
