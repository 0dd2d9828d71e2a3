import type { ChainUnavailable, ChainViews, EconomyView } from '../chain/chainViewTypes.ts';
import { decodeFeedCursor, encodeFeedCursor } from './feedCursor.ts';
import { createFeedIndex, type FeedCategory, type FeedItem, type FeedType, feedTypes } from './feedIndex.ts';
import type { MeasurementProgress } from './measurementEvents.ts';

export type { FeedCategory, FeedItem, FeedType } from './feedIndex.ts';
export { feedCategories, feedTypes } from './feedIndex.ts';
export { measurementPolicyVersion, streakDistanceMm } from './measurementEvents.ts';

export const feedUnavailableReasons = [
  'indexer_disabled',
  'not_yet_safe',
  'indexer_unavailable',
  'indexer_mismatch',
  'source_disabled',
] as const;
export type FeedUnavailableReason = (typeof feedUnavailableReasons)[number];

export interface FeedRequest {
  readonly category: FeedCategory;
  readonly limit: number;
  /** Null for the newest events. */
  readonly cursor: string | null;
}

/** One page of the feed, newest first. */
export interface FeedPage extends Omit<EconomyView, 'feed'> {
  readonly category: FeedCategory;
  /** What the category can contain at the moment. */
  readonly activeEventTypes: readonly FeedType[];
  readonly events: readonly FeedItem[];
  readonly nextCursor: string | null;
}

export interface FeedUnavailable {
  readonly status: 'unavailable';
  readonly installationId: string;
  readonly reason: FeedUnavailableReason;
}

/** Events that became visible, oldest first, with what they are told with. */
export interface FeedNews {
  readonly items: readonly FeedItem[];
  readonly context: Omit<EconomyView, 'feed'>;
}

export interface FeedViews {
  /** `undecodable` for a cursor that is none, or one of another category. */
  page(request: FeedRequest): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' };
  /** Takes what the sources hold now; whoever listens is told what is new. */
  refresh(): void;
  /** @returns stops it. */
  listen(listener: (news: FeedNews) => void): () => void;
  /**
   * What of a category is newer than a cursor, at most `limit` events; null while the feed is unavailable, or for a cursor
   * that is none.
   */
  newerThan(category: FeedCategory, cursor: string, limit: number): FeedNews | null;
  isCursor(category: FeedCategory, cursor: string): boolean;
}

/** The cursor of an event: the page behind it, or the stream after it, begins there. */
export function cursorOfItem(category: FeedCategory, item: FeedItem): string {
  return encodeFeedCursor(category, item);
}

export interface FeedViewsParts {
  readonly installationId: string;
  readonly chain: Pick<ChainViews, 'economy'>;
  /** Null before the first reading of the installation. */
  readonly progress: () => MeasurementProgress | null;
}

/** The feed of both families. Measurements are a source once the first one is accepted. */
export function createFeedViews({ installationId, chain, progress }: FeedViewsParts): FeedViews {
  let held: { chainId: bigint; index: ReturnType<typeof createFeedIndex> } | null = null;

  function indexOf({ chain: { chainId } }: EconomyView) {
    if (held?.chainId !== chainId) held = { chainId, index: createFeedIndex({ chainId }) };
    return held.index;
  }

  const listeners = new Set<(news: FeedNews) => void>();

  /** The index with all that the sources hold. */
  function current(economy: EconomyView) {
    const { feed, ...context } = economy;
    const index = indexOf(economy);
    const items = index.update(progress()?.events ?? [], feed);
    if (items.length > 0) for (const listener of listeners) listener({ items, context });
    return { index, context };
  }

  return {
    refresh: () => {
      const economy = chain.economy();
      if (economy.status === 'available') current(economy);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    newerThan: (category, cursor, limit) => {
      const place = decodeFeedCursor(category, cursor);
      const economy = chain.economy();
      if (place === null || economy.status === 'unavailable') return null;
      const { index, context } = current(economy);
      return { items: index.newerThan(category, place, limit), context };
    },
    isCursor: (category, cursor) => decodeFeedCursor(category, cursor) !== null,

    page: ({ category, limit, cursor }) => {
      const after = cursor === null ? null : decodeFeedCursor(category, cursor);
      if (cursor !== null && after === null) return { fault: 'undecodable' };
      const economy = chain.economy();
      if (economy.status === 'unavailable')
        return { status: 'unavailable', installationId, reason: reasonOf(economy) };
      const measured = progress();
      const activeEventTypes = (Object.keys(feedTypes) as FeedType[]).filter(
        (type) =>
          (category === 'all' || feedTypes[type] === category) &&
          (measured !== null || feedTypes[type] !== 'measurement'),
      );
      if (activeEventTypes.length === 0)
        return { status: 'unavailable', installationId, reason: 'source_disabled' };
      const { index, context } = current(economy);
      const { items, hasMore } = index.page(category, after, limit);
      const last = items.at(-1);
      return {
        ...context,
        category,
        activeEventTypes,
        events: items,
        nextCursor: hasMore && last !== undefined ? encodeFeedCursor(category, last) : null,
      };
    },
  };
}

/** The feed tells four reasons of the chain; of those that it does not, the view cannot be read at the moment. */
function reasonOf({ reason }: ChainUnavailable): FeedUnavailableReason {
  return feedUnavailableReasons.find((one) => one === reason) ?? 'indexer_unavailable';
}
