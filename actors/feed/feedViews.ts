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

export interface FeedViews {
  /** `undecodable` for a cursor that is none, or one of another category. */
  page(request: FeedRequest): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' };
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

  return {
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
      const { feed, ...shown } = economy;
      const index = indexOf(economy);
      index.update(measured?.events ?? [], feed);
      const { items, hasMore } = index.page(category, after, limit);
      const last = items.at(-1);
      return {
        ...shown,
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
