import { List } from 'immutable';
import type { ChainUnavailable, ChainViews, EconomyView } from '../chain/chainViewTypes.ts';
import { itemOfRow } from './eventRows.ts';
import { decodeFeedCursor, encodeFeedCursor } from './feedCursor.ts';
import {
  createFeedIndex,
  type FeedCategory,
  type FeedItem,
  type FeedPlace,
  type FeedSources,
  type FeedType,
  feedTypes,
  isOfCategory,
  mergedItems,
} from './feedIndex.ts';
import { nothingGivenUp } from './heldEvents.ts';
import type { MeasurementProgress } from './measurementEvents.ts';
import type { OlderEvents, OlderEventsAsked } from './olderEvents.ts';

export type { FeedCategory, FeedItem, FeedType } from './feedIndex.ts';
export { feedCategories, feedTypes, isOfCategory } from './feedIndex.ts';
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
  /**
   * At once where memory holds the page, else with a promise, which can be rejected with StorageUnavailable.
   * `undecodable` for a cursor that is none, or one of another category.
   */
  page(
    request: FeedRequest,
    signal: AbortSignal,
  ): FeedPage | FeedUnavailable | { readonly fault: 'undecodable' } | Promise<FeedPage>;
  /** Takes what the sources hold now; whoever listens is told what is new. */
  refresh(): void;
  /** @returns stops it. */
  listen(listener: (news: FeedNews) => void): () => void;
  /**
   * What of a category is newer than a cursor, at most `limit` events; null while the feed is unavailable, or for a cursor
   * that is none. At once where memory holds it; else with a promise, which can be rejected with StorageUnavailable.
   */
  newerThan(
    category: FeedCategory,
    cursor: string,
    limit: number,
    signal: AbortSignal,
  ): FeedNews | null | Promise<FeedNews>;
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
  readonly olderEvents: OlderEvents;
}

/** The feed of both families. Measurements are a source once the first one is accepted. */
export function createFeedViews(parts: FeedViewsParts): FeedViews {
  const { installationId, chain, progress, olderEvents } = parts;
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
    const sources = { measurement: progress() ?? nothingMeasured, chain: feed };
    const items = index.update(sources);
    if (items.length > 0) for (const listener of listeners) listener({ items, context });
    return { index, context, sources };
  }

  /** Stored events next to a place, of those sources that have given up some. */
  async function stored(
    sources: FeedSources,
    category: FeedCategory,
    asked: Pick<OlderEventsAsked, 'place' | 'direction' | 'limit'>,
    signal: AbortSignal,
  ): Promise<FeedItem[][]> {
    const found = await Promise.all(
      shortenedSources(sources, category).map((source) => {
        const givenUp = sources[source].givenUp.count;
        return olderEvents.read({ source, types: typesOf(category, source), givenUp, ...asked }, signal);
      }),
    );
    return found.map((rows) => rows.map(itemOfRow));
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
    newerThan: (category, cursor, limit, signal) => {
      const place = decodeFeedCursor(category, cursor);
      const economy = chain.economy();
      if (place === null || economy.status === 'unavailable') return null;
      const { index, context, sources } = current(economy);
      const held = () => index.newerThan(category, place, limit);
      const before = held();
      if (holdsFrom(sources, category, place.recordedAtMs)) return { items: before, context };
      const asked = { place, direction: 'newer', limit } as const;
      // Memory once more at the end: what has come meanwhile is part of the answer.
      return stored(sources, category, asked, signal).then((found) => ({
        items: mergedItems([...found, before, held()], limit, false),
        context,
      }));
    },
    isCursor: (category, cursor) => decodeFeedCursor(category, cursor) !== null,

    page: ({ category, limit, cursor }, signal) => {
      const after = cursor === null ? null : decodeFeedCursor(category, cursor);
      if (cursor !== null && after === null) return { fault: 'undecodable' };
      const economy = chain.economy();
      if (economy.status === 'unavailable')
        return { status: 'unavailable', installationId, reason: reasonOf(economy) };
      const activeEventTypes = [
        ...typesOf(category, 'chain'),
        ...(progress() === null ? [] : typesOf(category, 'measurement')),
      ];
      if (activeEventTypes.length === 0)
        return { status: 'unavailable', installationId, reason: 'source_disabled' };
      const { index, context, sources } = current(economy);
      const pageOf = (items: readonly FeedItem[]): FeedPage => ({
        ...context,
        category,
        activeEventTypes,
        events: items.slice(0, limit),
        nextCursor: items.length > limit ? encodeFeedCursor(category, items[limit - 1] as FeedPlace) : null,
      });
      // One more than the page tells whether there are more.
      const held = index.olderThan(category, after, limit + 1);
      const reachesTo = held[limit]?.recordedAtMs ?? Number.NEGATIVE_INFINITY;
      if (holdsFrom(sources, category, reachesTo)) return pageOf(held);
      const asked = { place: after, direction: 'older', limit: limit + 1 } as const;
      return stored(sources, category, asked, signal).then((found) =>
        pageOf(mergedItems([held, ...found], limit + 1, true)),
      );
    },
  };
}

const nothingMeasured: FeedSources['measurement'] = { events: List(), givenUp: nothingGivenUp };

function typesOf(category: FeedCategory, source: keyof FeedSources): FeedType[] {
  return (Object.keys(feedTypes) as FeedType[]).filter(
    (type) =>
      isOfCategory(category, type) && (feedTypes[type] === 'measurement') === (source === 'measurement'),
  );
}

/** Sources that have given events up, some of which can be of the category. */
function shortenedSources(sources: FeedSources, category: FeedCategory): (keyof FeedSources)[] {
  return (['measurement', 'chain'] as const).filter(
    (source) => sources[source].givenUp.count > 0 && typesOf(category, source).length > 0,
  );
}

/** Whether memory holds every event of a category that was recorded at a time or after it. */
function holdsFrom(sources: FeedSources, category: FeedCategory, timeMs: number): boolean {
  return shortenedSources(sources, category).every((source) => sources[source].givenUp.throughMs < timeMs);
}

/** The feed tells four reasons of the chain; of those that it does not, the view cannot be read at the moment. */
function reasonOf({ reason }: ChainUnavailable): FeedUnavailableReason {
  return feedUnavailableReasons.find((one) => one === reason) ?? 'indexer_unavailable';
}
