import type { ChainViews, EconomyView } from '../views/chainViewTypes.ts';
import {
  type FeedCategory,
  type FeedItem,
  isOfCategory,
  listStoredCategories,
  toChainItem,
  toMeasurementItem,
} from '../views/feedIndex.ts';
import { beforeAll, compareArrivals } from './arrival.ts';
import { toFeedItem } from './eventRows.ts';
import { findEventsAfter } from './eventWindow.ts';
import { findEvictedSource, type OlderEvents } from './olderEvents.ts';
import {
  advancePosition,
  type FeedSource,
  type FeedSources,
  feedSources,
  findNewestPosition,
  findStart,
  isSamePosition,
  type StreamPosition,
  toSourcePosition,
} from './streamPosition.ts';

/**
 * The streams are folded independently, so an event of one source may become visible so much earlier than one of the other
 * that arrived before it. Who names an event by its ID is told what arrived so long before it of the other source again.
 */
const overlapMs = 60_000;

/** An event with the position of a client that has been told it, and all before it. */
export interface ArrivedItem {
  readonly item: FeedItem;
  readonly position: StreamPosition;
}

/** Events in the order in which they became visible, with what they are told with. */
export interface FeedNews {
  /** They follow this position; */
  readonly from: StreamPosition;
  readonly items: readonly ArrivedItem[];
  /** and this is where they, and all of other categories in between, end. */
  readonly position: StreamPosition;
  /** Whether nothing is left behind `position` at this moment. */
  readonly isComplete: boolean;
  readonly context: Omit<EconomyView, 'feed'>;
}

/** The feed by arrival, for those who listen. */
export interface FeedNewsViews {
  /** Takes what the sources hold now; whoever listens is told what is new. */
  refresh(): void;
  /**
   * News of all categories, which are not complete when memory has given up some of them before they were told: then they are
   * to be read with `after`.
   *
   * @returns stops it.
   */
  listen(listener: (news: FeedNews) => void): () => void;
  /** Behind everything that has been told so far; null before the feed is available for the first time. */
  position(): StreamPosition | null;
  /**
   * What of a category became visible after a position, at most `limit` events; null while the feed is unavailable. At once, and up
   * to {@link position} when it is complete, where memory holds it; else with a promise, which can be rejected with StorageUnavailable.
   * Without events and not complete, there is more as soon as this process has folded it.
   */
  after(
    category: FeedCategory,
    from: StreamPosition,
    limit: number,
    signal: AbortSignal,
  ): FeedNews | null | Promise<FeedNews>;
  /**
   * The position of a client that has been told the event of an ID, which loses nothing: of the other source it may be told some
   * again. Null for an ID that no event has, and `unavailable` while the feed is.
   *
   * @throws StorageUnavailable
   */
  locate(id: string, signal: AbortSignal): Promise<StreamPosition | null | 'unavailable'>;
}

export interface FeedNewsOptions {
  readonly chain: Pick<ChainViews, 'economy'>;
  readonly readSources: (economy: EconomyView) => FeedSources;
  readonly olderEvents: OlderEvents;
}

export function createFeedNews({ chain, readSources, olderEvents }: FeedNewsOptions): FeedNewsViews {
  const listeners = new Set<(news: FeedNews) => void>();
  let told: StreamPosition | null = null;

  /** What the sources hold now; null while the feed is unavailable. */
  function current() {
    const economy = chain.economy();
    if (economy.status === 'unavailable') return null;
    const { feed: _events, ...context } = economy;
    const sources = readSources(economy);
    const itemsAfter = createItemsAfter(sources, context.chain.chainId);
    const newest = findNewestPosition(sources);
    const from = told ?? newest;
    told = advancePosition(from, newest);
    if (told !== from && listeners.size > 0) {
      const isComplete = feedSources.every((source) => isInMemoryAfter(sources, source, from));
      const lists = isComplete ? feedSources.map((source) => itemsAfter(source, from, 'all')) : [];
      const items = attachPositions(from, sources, mergeByArrival(lists));
      for (const listener of listeners) listener({ from, items, position: told, isComplete, context });
    }
    return { sources, context, itemsAfter, newest, told };
  }

  return {
    refresh: () => void current(),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    position: () => current()?.told ?? told,

    after: (category, from, limit, signal) => {
      const now = current();
      if (now === null) return null;
      const { sources, context, itemsAfter } = now;
      // Behind what is told here while the sources are folded again, or what was told by a process that is ahead of this one.
      const end = advancePosition(from, now.newest);
      const isUpToDate = isSamePosition(end, now.told);
      const buildNews = (lists: readonly (readonly FeedItem[])[], isFromMemory: boolean): FeedNews => {
        const items = attachPositions(from, sources, mergeByArrival(lists).slice(0, limit));
        const isAll = items.length < limit;
        const position = isAll ? (isUpToDate ? now.told : end) : (items.at(-1) as ArrivedItem).position;
        return { from, items, position, isComplete: isAll && isFromMemory && isUpToDate, context };
      };
      const stored = feedSources.filter((source) => !isInMemoryAfter(sources, source, from));
      const wanted = stored.filter((source) => listStoredCategories(category, source).length > 0);
      const inMemory = feedSources.map((source) => itemsAfter(source, from, category));
      if (wanted.length === 0) return buildNews(inMemory, true);
      const reading = wanted.map(async (source) => {
        const of = findEvictedSource(sources, source);
        if (of === null) return [];
        const arrival = findStart(from[source], sources[source]);
        const query = { categories: listStoredCategories(category, source), arrival, limit };
        return (await olderEvents.after(of, query, signal)).map(toFeedItem);
      });
      // What has come meanwhile is read next: only what memory holds at one moment can be complete.
      return Promise.all(reading).then((rows) =>
        buildNews(
          feedSources.map((source, at) => [
            ...(rows[wanted.indexOf(source)] ?? []),
            ...(inMemory[at] as FeedItem[]),
          ]),
          false,
        ),
      );
    },

    locate: async (id, signal) => {
      const now = current();
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

/** The held events of a source and category that arrived after a position, oldest first; all of them for null. */
type ItemsAfter = (source: FeedSource, from: StreamPosition | null, category: FeedCategory) => FeedItem[];

function createItemsAfter({ measurement, chain }: FeedSources, chainId: bigint): ItemsAfter {
  return (source, from, category) => {
    const start = (run: string) => (from === null ? beforeAll : findStart(from[source], { run }));
    const items =
      source === 'measurement'
        ? findEventsAfter(measurement, start(measurement.run)).map(toMeasurementItem)
        : findEventsAfter(chain, start(chain.run)).map((event) => toChainItem(chainId, event));
    return items.filter(({ type }) => isOfCategory(category, type));
  };
}

/** Whether memory holds every event of a source that arrived after a position. */
function isInMemoryAfter(sources: FeedSources, source: FeedSource, from: StreamPosition): boolean {
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
  from: StreamPosition,
  sources: FeedSources,
  items: readonly FeedItem[],
): ArrivedItem[] {
  let position = from;
  return items.map((item) => {
    position = { ...position, [item.source]: toSourcePosition(sources[item.source].run, item) };
    return { item, position };
  });
}
