import { type Arrival, compareArrivals } from '../../events/arrival.ts';
import type { EventWindow } from '../../events/eventWindow.ts';
import { findFirstIndex } from '../../events/findFirstIndex.ts';
import { toFeedItem } from '../../feed/eventRows.ts';
import {
  type FeedCategory,
  type FeedItem,
  type FeedSource,
  feedSources,
  isOfCategory,
  listStoredCategories,
  nothingMeasured,
  toChainItem,
  toMeasurementItem,
} from '../../feed/feedItem.ts';
import type { FeedPosition, SourcePlace } from '../../feed/feedPosition.ts';
import type { FoldedMessage } from '../../folds/foldedMessage.ts';
import type { OlderEvents } from '../../pages/olderRows.ts';
import type { CounterActors } from '../../wheel/counterActors.ts';
import type { ChainViews } from '../chain/chainViews.ts';

/** An event, and the place of a client that was sent it. */
interface PlacedItem {
  readonly item: FeedItem;
  readonly place: SourcePlace;
}

/** Events of a source that a client is sent next, oldest first. */
export interface NextEvents {
  readonly items: readonly PlacedItem[];
  /** Place of a client that was sent them: of the last one, also if that has another category. */
  readonly place: SourcePlace | null;
  /** Whether the client's last event is gone, so that all events in memory are sent. */
  readonly isRestarted: boolean;
}

/** Reads next events that memory has evicted; null if none follows. May reject with StoreUnavailable. */
export type ReadNext = (signal: AbortSignal) => Promise<NextEvents | null>;

interface NextQuery {
  readonly category: FeedCategory;
  /** Number of events that are looked at in memory, and that are read from the store. */
  readonly limit: number;
}

/** Reads the events of this moment, in the order in which they became visible. */
export type ReadFeedMoment = ReturnType<typeof createFeedNews>;
/** The events of both sources at one moment. */
export type FeedMoment = ReturnType<ReadFeedMoment>;

interface FeedNewsOptions {
  readonly chain: Pick<ChainViews, 'economy' | 'foldedThrough'>;
  readonly counters: Pick<CounterActors, 'achievements' | 'shownThrough'>;
  readonly olderEvents: OlderEvents;
}

export function createFeedNews({ chain, counters, olderEvents }: FeedNewsOptions) {
  return () => {
    const economy = chain.economy();
    const context = economy.status === 'available' ? economy : null;
    const sources = {
      measurement: showSource('measurement', {
        window: counters.achievements() ?? nothingMeasured,
        through: counters.shownThrough(),
        toItem: toMeasurementItem,
        olderEvents,
      }),
      chain:
        context &&
        showSource('chain', {
          window: context.feed,
          through: chain.foldedThrough(),
          toItem: (event) => toChainItem(context.chain.chainId, event),
          olderEvents,
        }),
    };
    const hasNoChain = economy.status === 'unavailable' && economy.reason === 'indexer_disabled';
    const isAwaited = (source: FeedSource) => sources[source] === null && !(source === 'chain' && hasNoChain);
    return {
      /** Context of events of the chain; null while the chain is unavailable. */
      context,
      /** Finds the position after all events; null before state is restored, and while a source with events of the category is unavailable. */
      findEnd: (category: FeedCategory): FeedPosition | null => {
        if (feedSources.some((one) => isAwaited(one) && listStoredCategories(category, one).length > 0))
          return null;
        return {
          measurement: sources.measurement?.newest ?? null,
          chain: sources.chain?.newest ?? null,
        };
      },
      /**
       * Finds the events of a source that follow the last one that a client was sent; all events for null. Returns null if none follows, and while this
       * process has yet to fold the client's last event.
       */
      next: (source: FeedSource, place: SourcePlace | null, query: NextQuery) =>
        sources[source]?.next(place, query) ?? null,
    };
  };
}

interface SourceOptions<Event extends Arrival> {
  readonly window: EventWindow<Event>;
  /** The last folded message; null before state is restored. */
  readonly through: FoldedMessage | null;
  readonly toItem: (event: Event) => FeedItem;
  readonly olderEvents: OlderEvents;
}

/** One source at one moment; null before its state is restored. */
function showSource<Event extends Arrival>(
  source: FeedSource,
  { window: { events, evicted }, through, toItem, olderEvents }: SourceOptions<Event>,
) {
  if (through === null) return null;
  const { streamCreatedMs } = through;

  const toPlaced = (item: FeedItem): PlacedItem => {
    const { position, ordinal, arrivedAtMs: storedAtMs } = item;
    return { item, place: { streamCreatedMs, position, ordinal, storedAtMs } };
  };

  /** The events in memory from an index on. */
  function takeFrom(index: number, { category, limit }: NextQuery, isRestarted: boolean): NextEvents {
    const found = events.slice(index, index + limit).toArray();
    const placed = found.map((event) => toPlaced(toItem(event)));
    const items = placed.filter(({ item }) => isOfCategory(category, item.type));
    return { items, place: placed.at(-1)?.place ?? null, isRestarted };
  }

  /** Index of the event after a place; null if memory does not hold the event at the place. */
  function findIndexAfter(place: SourcePlace): number | null {
    const index = findFirstIndex(events.size, (at) => compareArrivals(events.get(at) as Event, place) >= 0);
    const event = events.get(index);
    if (event === undefined || compareArrivals(event, place) !== 0) return null;
    return toItem(event).arrivedAtMs === place.storedAtMs ? index + 1 : null;
  }

  function readAfter(place: SourcePlace | null, evictedThrough: Arrival, query: NextQuery): ReadNext {
    const of = { source, evicted: { ...evicted, through: evictedThrough } };
    const { category, limit } = query;
    return async (signal) => {
      const categories = listStoredCategories(category, source);
      const rows = await olderEvents.after(of, { categories, place, limit }, signal);
      if (rows === null) return takeFrom(0, query, true);
      const stored = rows.map((row) => toPlaced(toFeedItem(row)));
      const last = stored.at(-1)?.place ?? place;
      if (stored.length === limit) return { items: stored, place: last, isRestarted: false };
      if (stored.length === 0 && events.isEmpty()) return null;
      const inMemory = takeFrom(0, query, false);
      return { ...inMemory, items: [...stored, ...inMemory.items], place: inMemory.place ?? last };
    };
  }

  function next(place: SourcePlace | null, query: NextQuery): NextEvents | ReadNext | null {
    if (place === null || place.streamCreatedMs === streamCreatedMs) {
      const { through: evictedThrough } = evicted;
      if (evictedThrough !== null && (place === null || compareArrivals(place, evictedThrough) <= 0))
        return readAfter(place, evictedThrough, query);
      const index = place === null ? 0 : findIndexAfter(place);
      if (index !== null) return index === events.size ? null : takeFrom(index, query, false);
    }
    return place !== null && isBefore(through as FoldedMessage, place) ? null : takeFrom(0, query, true);
  }

  const newest = events.last();
  /** `newest` is the place of the newest event in memory; null without any. */
  return { newest: newest === undefined ? null : toPlaced(toItem(newest)).place, next };
}

/** Whether a process has folded nothing newer than the event at a place, and has yet to fold that. */
function isBefore(through: FoldedMessage, place: SourcePlace): boolean {
  const isOtherStream = through.streamCreatedMs !== place.streamCreatedMs;
  const isBehind = isOtherStream
    ? through.streamCreatedMs < place.streamCreatedMs
    : through.position < place.position;
  return isBehind && through.storedAtMs <= place.storedAtMs;
}
