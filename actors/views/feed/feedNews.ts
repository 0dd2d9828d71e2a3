import type { Seq } from 'immutable';
import { cacheView } from '../../cacheView.ts';
import { beforeAll, compareArrivals } from '../../events/arrival.ts';
import { findEventsAfter } from '../../events/eventWindow.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import { type FeedCategory, isOfCategory } from '../../feed/feedCategories.ts';
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
import { findEvictedSource, listStoredCategories, type OlderEvents } from '../../feed/olderEvents.ts';
import type { ChainViews, EconomyView } from '../chain/chainViewTypes.ts';

/**
 * The streams are folded independently, so an event of one source may become visible this much earlier than one of the other
 * that arrived before it. A client that names an event by its ID receives once more what arrived of the other source in this time
 * before it.
 */
const overlapMs = 60_000;

/** An event with the position of a client that it, and all before it, was delivered to. */
export interface ArrivedItem {
  readonly item: FeedItem;
  readonly position: FeedPosition;
}

/** Events in the order in which they became visible, with the context that each is sent with. */
export interface FeedNews {
  /** The position that they follow. */
  readonly from: FeedPosition;
  readonly items: readonly ArrivedItem[];
  /** The position through which they, and those of other categories among them, go. */
  readonly position: FeedPosition;
  /** Whether there is nothing after `position` at this moment. */
  readonly isComplete: boolean;
  readonly context: Omit<EconomyView, 'feed'>;
}

/** Reads news of which some have left memory; may be rejected with StorageUnavailable. */
export type ReadNews = (signal: AbortSignal) => Promise<FeedNews>;

export interface FeedNewsViews {
  /** Reads the sources, and delivers what is new to the listeners; nothing else delivers. */
  refresh(): void;
  /**
   * Delivers news of all categories. They are not complete where some events were evicted before they were delivered: those are to
   * be read with `after`.
   *
   * @returns a function that stops it.
   */
  listen(listener: (news: FeedNews) => void): () => void;
  /**
   * The position after everything that was delivered, or after everything that there is before the first refresh; null before the feed is
   * available for the first time.
   */
  position(): FeedPosition | null;
  /**
   * The events of a category that became visible after a position, at most `limit` of them; null while the feed is unavailable.
   * Where they are in memory it costs as much as `limit` of them, and they go up to {@link position} if they are complete. Else a function
   * that reads them. No events that are not complete mean that this process has yet to fold them.
   */
  after(category: FeedCategory, from: FeedPosition, limit: number): FeedNews | null | ReadNews;
  /**
   * A position after the event of an ID, from which nothing is lost: some events of the other source may be delivered again. Null
   * for an ID that no event has, and `unavailable` while the feed is.
   *
   * @throws StorageUnavailable
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

  /** The same object while the sources are: a client that asks before the first refresh has the position that the refresh continues from. */
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

    after: (category, from, limit) => {
      const now = readCurrent();
      if (now === null) return null;
      const { sources, context, itemsAfter } = now;
      // It differs from what was delivered here while the sources are folded again, or where a process ahead of this one delivered.
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
        // Events that have arrived meanwhile are read next: only what is in memory at one moment can be complete.
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
        beforeAll;
      const [at, otherAt] = [
        toSourcePosition(sources[source].run, found),
        toSourcePosition(sources[other].run, before),
      ];
      return source === 'chain' ? { chain: at, measurement: otherAt } : { measurement: at, chain: otherAt };
    },
  };
}

/** The events in memory of a source and category that arrived after a position, oldest first, each made when it is taken; all of them for null. */
type ItemsAfter = (
  source: FeedSource,
  from: FeedPosition | null,
  category: FeedCategory,
) => Seq.Indexed<FeedItem>;

function createItemsAfter({ measurement, chain }: FeedSources, chainId: bigint): ItemsAfter {
  return (source, from, category) => {
    const start = (run: string) => (from === null ? beforeAll : findStart(from[source], { run }));
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

/** Lists that are each in order of arrival as one, by time; the order within each stays. */
function mergeByArrival(lists: readonly (readonly FeedItem[])[]): FeedItem[] {
  const queues = lists.map((items) => ({ items, next: 0 }));
  const merged: FeedItem[] = [];
  for (;;) {
    let earliest: { items: readonly FeedItem[]; next: number } | null = null;
    for (const queue of queues)
      if (
        queue.next < queue.items.length &&
        (earliest === null || arrivedAtMs(queue) < arrivedAtMs(earliest))
      )
        earliest = queue;
    if (earliest === null) return merged;
    merged.push(earliest.items[earliest.next++] as FeedItem);
  }
}

function arrivedAtMs({
  items,
  next,
}: {
  readonly items: readonly FeedItem[];
  readonly next: number;
}): number {
  return (items[next] as FeedItem).arrivedAtMs;
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
