import type { Seq } from 'immutable';
import { cacheView } from '../../caching/cacheView.ts';
import { beforeFirst, compareArrivals } from '../../events/arrival.ts';
import { findEventsAfter } from '../../events/eventWindow.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import { type FeedCategory, isOfCategory, listStoredCategories } from '../../feed/feedCategories.ts';
import { type FeedItem, toChainItem, toMeasurementItem } from '../../feed/feedItem.ts';
import {
  advancePosition,
  type FeedPosition,
  type FeedSource,
  type FeedSources,
  feedSources,
  findNewestPosition,
  findStart,
  isSamePosition,
  toSourcePosition,
} from '../../feed/feedPosition.ts';
import { findEvictedSource, type OlderEvents } from '../../feed/olderEvents.ts';
import type { ChainViews } from '../chain/chainViews.ts';
import type { EconomyView } from '../chain/coreViews.ts';

/**
 * The streams are folded independently. An event may therefore become visible up to this time earlier than an event of the other source
 * that arrived before it. A client that names an event by ID receives the other source's events of this time before it once more.
 */
const overlapMs = 60_000;

/** An event, and the position of a client that has received it and all events before it. */
interface ArrivedItem {
  readonly item: FeedItem;
  readonly position: FeedPosition;
}

/** Events in the order of arrival, with the context that each is sent with. */
export interface FeedNews {
  /** Position before the events. */
  readonly from: FeedPosition;
  readonly items: readonly ArrivedItem[];
  /** Position after the events, including skipped events of other categories. */
  readonly position: FeedPosition;
  /** Whether no event follows `position` at this moment. */
  readonly isComplete: boolean;
  readonly context: Omit<EconomyView, 'feed'>;
}

/** Reads news with evicted events. May reject with RecordsUnavailable. */
export type ReadNews = (signal: AbortSignal) => Promise<FeedNews>;

export interface FeedNewsViews {
  /** Reads the sources and delivers new events to the listeners. Only this call delivers. */
  refresh(): void;
  /**
   * Delivers news of all categories. News is incomplete if events were evicted before their delivery; read these with `after`.
   *
   * @returns a function that removes the listener.
   */
  listen(listener: (news: FeedNews) => void): () => void;
  /**
   * The position after all delivered events; before the first refresh, after all events. Null until the feed is first available.
   */
  position(): FeedPosition | null;
  /** The position after all events, delivered or not: the same object until another one is there. Null while the feed is unavailable. */
  newest(): FeedPosition | null;
  /**
   * At most `limit` events of a category after a position; null while the feed is unavailable. If they are in memory, the cost depends only
   * on `limit`, and complete news goes up to {@link position}. Otherwise the result is a function that reads them. Empty, incomplete news
   * means that this process has yet to fold the events.
   */
  after(category: FeedCategory, from: FeedPosition, limit: number): FeedNews | null | ReadNews;
  /**
   * A position after the event with an ID, from which no event is lost. Some events of the other source may be delivered again. Null for
   * an unknown ID, and `unavailable` while the feed is.
   *
   * @throws RecordsUnavailable
   */
  locate(id: string, signal: AbortSignal): Promise<FeedPosition | null | 'unavailable'>;
}

interface FeedNewsOptions {
  readonly chain: Pick<ChainViews, 'economy'>;
  readonly readSources: (economy: EconomyView) => FeedSources;
  readonly olderEvents: OlderEvents;
}

export function createFeedNews({ chain, readSources, olderEvents }: FeedNewsOptions): FeedNewsViews {
  const listeners = new Set<(news: FeedNews) => void>();
  let delivered: FeedPosition | null = null;

  /** The same object while the sources are unchanged, so that the first refresh continues from the position that clients already have. */
  const findNewest = cacheView({
    inputs: ({ measurement, chain: chainSource }: FeedSources) => [measurement, chainSource],
    compute: (measurement, chainSource) => findNewestPosition({ measurement, chain: chainSource }),
  });

  /** The sources at this moment; null while the feed is unavailable. */
  function readCurrent() {
    const economy = chain.economy();
    if (economy.status === 'unavailable') return null;
    const { feed: _events, ...context } = economy;
    const sources = readSources(economy);
    const itemsAfter = createItemsAfter(sources, context.chain.chainId);
    const newest = findNewest(sources);
    return { sources, context, itemsAfter, newest, delivered: delivered ?? newest };
  }

  function refresh() {
    const now = readCurrent();
    if (now === null) return;
    const { sources, context, itemsAfter, newest, delivered: from } = now;
    const position = advancePosition(from, newest);
    delivered = position;
    if (position === from || listeners.size === 0) return;
    const isComplete = feedSources.every((source) => isInMemoryAfter(sources, source, from));
    const lists = isComplete ? feedSources.map((source) => itemsAfter(source, from, 'all').toArray()) : [];
    const items = attachPositions(from, sources, mergeByArrival(lists));
    for (const listener of listeners) listener({ from, items, position, isComplete, context });
  }

  return {
    refresh,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    position: () => delivered ?? readCurrent()?.newest ?? null,
    newest: () => readCurrent()?.newest ?? null,

    after: (category, from, limit) => {
      const now = readCurrent();
      if (now === null) return null;
      const { sources, context, itemsAfter } = now;
      // Differs from `delivered` while the sources are folded again, or if the client comes from a process that is ahead.
      const end = advancePosition(from, now.newest);
      const isUpToDate = isSamePosition(end, now.delivered);
      const buildNews = (lists: readonly (readonly FeedItem[])[], isFromMemory: boolean): FeedNews => {
        const items = attachPositions(from, sources, mergeByArrival(lists).slice(0, limit));
        const isAll = items.length < limit;
        const position = isAll ? (isUpToDate ? now.delivered : end) : (items.at(-1) as ArrivedItem).position;
        return { from, items, position, isComplete: isAll && isFromMemory && isUpToDate, context };
      };
      const stored = feedSources.filter((source) => !isInMemoryAfter(sources, source, from));
      const wanted = stored.filter((source) => listStoredCategories(category, source).length > 0);
      const inMemory = feedSources.map((source) => itemsAfter(source, from, category).take(limit).toArray());
      if (wanted.length === 0) return buildNews(inMemory, true);
      return async (signal) => {
        const reading = wanted.map(async (source) => {
          const of = findEvictedSource(sources, source);
          if (of === null) return [];
          const arrival = findStart(from[source], sources[source]);
          const query = { categories: listStoredCategories(category, source), arrival, limit };
          return (await olderEvents.after(of, query, signal)).map(toFeedItem);
        });
        const rows = await Promise.all(reading);
        const lists = feedSources.map((source, at) => [
          ...(rows[wanted.indexOf(source)] ?? []),
          ...(inMemory[at] as FeedItem[]),
        ]);
        // Not complete, since events may have arrived during the read. The next call reads them.
        return buildNews(lists, false);
      };
    },

    locate: async (id, signal) => {
      const now = readCurrent();
      if (now === null) return 'unavailable';
      const { sources, itemsAfter } = now;
      const source: FeedSource = id.startsWith('chain:') ? 'chain' : 'measurement';
      const other: FeedSource = source === 'chain' ? 'measurement' : 'chain';
      const stored = findEvictedSource(sources, source);
      const found =
        itemsAfter(source, null, 'all').find((item) => item.id === id) ??
        (stored === null ? null : await olderEvents.find(stored, id, signal));
      if (found === null) return null;
      const untilMs = found.arrivedAtMs - overlapMs;
      const storedOther = findEvictedSource(sources, other);
      const before =
        itemsAfter(other, null, 'all').findLast(({ arrivedAtMs }) => arrivedAtMs < untilMs) ??
        (storedOther === null ? null : await olderEvents.lastBefore(storedOther, untilMs, signal)) ??
        beforeFirst;
      const [at, otherAt] = [
        toSourcePosition(sources[source].run, found),
        toSourcePosition(sources[other].run, before),
      ];
      return source === 'chain' ? { chain: at, measurement: otherAt } : { measurement: at, chain: otherAt };
    },
  };
}

/** Events in memory of a source and category after a position, oldest first, converted lazily; all events for null. */
type ItemsAfter = (
  source: FeedSource,
  from: FeedPosition | null,
  category: FeedCategory,
) => Seq.Indexed<FeedItem>;

function createItemsAfter({ measurement, chain }: FeedSources, chainId: bigint): ItemsAfter {
  return (source, from, category) => {
    const start = (run: string) => (from === null ? beforeFirst : findStart(from[source], { run }));
    const items =
      source === 'measurement'
        ? findEventsAfter(measurement, start(measurement.run)).toSeq().map(toMeasurementItem)
        : findEventsAfter(chain, start(chain.run))
            .toSeq()
            .map((event) => toChainItem(chainId, event));
    return items.filter(({ type }) => isOfCategory(category, type));
  };
}

/** Whether memory holds every event of a source that arrived after a position. */
function isInMemoryAfter(sources: FeedSources, source: FeedSource, from: FeedPosition): boolean {
  const { run, evicted } = sources[source];
  return evicted.through === null || compareArrivals(findStart(from[source], { run }), evicted.through) >= 0;
}

/** Merges two lists in order of arrival by time, and keeps the order within each list. */
function mergeByArrival([some = [], others = []]: readonly (readonly FeedItem[])[]): FeedItem[] {
  const merged: FeedItem[] = [];
  let at = 0;
  for (const item of some) {
    for (
      let other = others[at];
      other !== undefined && other.arrivedAtMs < item.arrivedAtMs;
      other = others[++at]
    )
      merged.push(other);
    merged.push(item);
  }
  return merged.concat(others.slice(at));
}

function attachPositions(
  from: FeedPosition,
  sources: FeedSources,
  items: readonly FeedItem[],
): ArrivedItem[] {
  let position = from;
  return items.map((item) => {
    position = { ...position, [item.source]: toSourcePosition(sources[item.source].run, item) };
    return { item, position };
  });
}
