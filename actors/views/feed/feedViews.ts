import { List } from 'immutable';
import { cacheView } from '../../cacheView.ts';
import type { ChainFeedEvent } from '../../events/eventSchemas.ts';
import { nothingEvicted } from '../../events/eventWindow.ts';
import { type EventRow, toFeedItem } from '../../feed/eventRows.ts';
import { type FeedCategory, type FeedType, feedTypes, isOfCategory } from '../../feed/feedCategories.ts';
import {
  buildChainIdPrefix,
  compareShown,
  type FeedItem,
  type FeedPlace,
  toChainItem,
} from '../../feed/feedItem.ts';
import { type FeedSource, type FeedSources, feedSources } from '../../feed/feedPosition.ts';
import { findEvictedSource, listStoredCategories, type OlderEvents } from '../../feed/olderEvents.ts';
import { listKeys } from '../../schemas/listKeys.ts';
import type { MeasurementProgress } from '../../wheel/measurementEvents.ts';
import { type ChainViews, chainUnavailableReasons, type EconomyView } from '../chain/chainViewTypes.ts';
import { decodeFeedCursor, encodeFeedCursor } from './feedCursor.ts';
import { createFeedIndex } from './feedIndex.ts';
import { createFeedNews, type FeedNewsViews } from './feedNews.ts';

export type { FeedCategory, FeedType } from '../../feed/feedCategories.ts';
export { feedCategories, feedTypes, isOfCategory } from '../../feed/feedCategories.ts';
export type { FeedItem } from '../../feed/feedItem.ts';
export type { FeedPosition } from '../../feed/feedPosition.ts';
export { decodeFeedPosition, encodeFeedPosition, isSamePosition } from '../../feed/feedPosition.ts';
export { measurementPolicyVersion, streakDistanceMm } from '../../wheel/measurementEvents.ts';
export type { ArrivedItem, FeedNews, ReadNews } from './feedNews.ts';

export const feedUnavailableReasons = [...chainUnavailableReasons, 'source_disabled'] as const;
type FeedUnavailableReason = (typeof feedUnavailableReasons)[number];

export interface FeedRequest {
  readonly category: FeedCategory;
  readonly limit: number;
  /** Null for the newest events. */
  readonly cursor: string | null;
}

/** One page of the feed, newest first. */
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

/** Events of one record, in the order of the chain. */
interface RecordEvents extends Omit<EconomyView, 'feed'> {
  readonly events: readonly FeedItem[];
}

export interface FeedViews extends FeedNewsViews {
  /** The values behind pages in memory: while each is the same (`===`), so are the pages. */
  inputs(): readonly unknown[];
  /**
   * A value if the page is in memory, else a promise, which may reject with StorageUnavailable. `undecodable` for an invalid cursor or
   * another category's cursor.
   */
  page(
    request: FeedRequest,
    signal: AbortSignal,
  ): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' } | Promise<FeedPage>;
  /** At most `limit` events; null while the feed is unavailable. May reject with StorageUnavailable. */
  ofTransaction(transactionHash: string, limit: number, signal: AbortSignal): Promise<RecordEvents | null>;
  /** The mint and the merges of a miner, of any age; null while the feed is unavailable. May reject with StorageUnavailable. */
  ofMiner(tokenId: bigint, signal: AbortSignal): Promise<RecordEvents | null>;
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
  const findIndexFor = cacheView({
    inputs: ({ chain: { chainId } }: EconomyView) => [chainId],
    compute: (chainId) => createFeedIndex({ chainId }),
  });

  function readSources(economy: EconomyView): FeedSources {
    return { measurement: progress() ?? nothingMeasured, chain: economy.feed };
  }

  const news = createFeedNews({ chain, readSources, olderEvents });

  /** Stored events below a place, from the sources with evicted events. */
  async function storedBefore(
    sources: FeedSources,
    query: { readonly category: FeedCategory; readonly place: FeedPlace | null; readonly limit: number },
    signal: AbortSignal,
  ): Promise<FeedItem[]> {
    const { category, place, limit } = query;
    const stored = await Promise.all(
      feedSources.map((source) => {
        const categories = listStoredCategories(category, source);
        const of = findEvictedSource(sources, source);
        if (of === null || categories.length === 0) return [];
        return olderEvents.before(of, { categories, place, limit }, signal);
      }),
    );
    return stored.flat().map(toFeedItem);
  }

  /** Events from rows, then those in memory. After a reorganization an event may be stored once more. */
  function joinEvents(
    { chain: { chainId } }: EconomyView,
    older: readonly EventRow[],
    inMemory: Iterable<ChainFeedEvent>,
  ): FeedItem[] {
    const items = [...older.map(toFeedItem), ...[...inMemory].map((event) => toChainItem(chainId, event))];
    return [...new Map(items.map((item) => [item.id, item])).values()];
  }

  return {
    ...news,
    inputs: () => [chain.economy(), progress()],
    page: ({ category, limit, cursor }, signal) => {
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
        events: items.slice(0, limit),
        nextCursor: items.length > limit ? encodeFeedCursor(category, items[limit - 1] as FeedPlace) : null,
      });
      // One event more than the page shows whether a next page exists.
      const inMemory = index.olderThan(category, after, limit + 1);
      const reachesTo = inMemory[limit]?.recordedAtMs ?? Number.NEGATIVE_INFINITY;
      if (isInMemoryFrom(sources, category, reachesTo)) return buildPage(inMemory);
      const query = { category, place: after, limit: limit + 1 };
      return storedBefore(sources, query, signal).then((older) =>
        buildPage([...inMemory, ...older].sort(compareShown)),
      );
    },
    ofTransaction: async (transactionHash, limit, signal) => {
      const economy = chain.economy();
      if (economy.status === 'unavailable') return null;
      const { feed: window, ...context } = economy;
      const { chainId } = context.chain;
      const inMemory = window.events.filter(({ source }) => source.transactionHash === transactionHash);
      const evicted = findEvictedSource(readSources(economy), 'chain');
      // One message makes all events of a transaction safe.
      const isSplit = (inMemory.first()?.position ?? 0) <= (evicted?.evicted.through.position ?? -1);
      const { core, mining } = context.identities;
      const idPrefixes = [core, mining].map((one) => buildChainIdPrefix(chainId, one, transactionHash));
      const query = { idPrefixes, limit };
      const older =
        evicted !== null && isSplit ? await olderEvents.ofTransaction(evicted, query, signal) : [];
      return { ...context, events: joinEvents(economy, older, inMemory).slice(0, limit) };
    },
    ofMiner: async (tokenId, signal) => {
      const economy = chain.economy();
      if (economy.status === 'unavailable') return null;
      const { feed: window, ...context } = economy;
      const evicted = findEvictedSource(readSources(economy), 'chain');
      const older = evicted === null ? [] : await olderEvents.ofMiner(evicted, tokenId, signal);
      const inMemory = window.events.filter(({ details }) => isOfMiner(details, tokenId));
      return { ...context, events: joinEvents(economy, older, inMemory) };
    },
  };
}

const nothingMeasured: FeedSources['measurement'] = { run: '', events: List(), evicted: nothingEvicted };

function listTypes(category: FeedCategory, source: FeedSource): FeedType[] {
  return listKeys(feedTypes).filter(
    (type) =>
      isOfCategory(category, type) && (feedTypes[type] === 'measurement') === (source === 'measurement'),
  );
}

/** Whether a miner was minted or merged. */
function isOfMiner(details: ChainFeedEvent['details'], tokenId: bigint): boolean {
  if (details.type === 'player.miner_minted') return details.tokenId === tokenId;
  if (details.type !== 'player.miners_merged') return false;
  return details.survivorTokenId === tokenId || details.donorTokenId === tokenId;
}

/** Whether memory holds every event of a category that was recorded at or after a time. */
function isInMemoryFrom(sources: FeedSources, category: FeedCategory, timeMs: number): boolean {
  return feedSources.every((source) => {
    const { through, throughMs } = sources[source].evicted;
    return through === null || throughMs < timeMs || listStoredCategories(category, source).length === 0;
  });
}
