import type { Arrival } from '../events/arrival.ts';
import type { EvictedEvents } from '../events/eventWindow.ts';
import type { EventRow } from './eventRows.ts';
import type { FeedCategory, StoredCategory } from './feedCategories.ts';
import type { FeedPlace } from './feedItem.ts';
import type { FeedSource, FeedSources } from './feedPosition.ts';

/** A source of which events have left memory: the stored events of its run, up to the newest evicted one, may be read. */
export interface EvictedSource {
  readonly source: FeedSource;
  readonly run: string;
  readonly evicted: EvictedEvents & { readonly through: Arrival };
}

/**
 * Events that have left memory, from where they are stored. A read costs about the same however many are stored.
 * Every call is rejected with StorageUnavailable when ClickHouse does not answer, or does not hold all of them in time.
 */
export interface OlderEvents {
  /** The events next to a place of the feed, newest first; the newest ones for null. */
  before(
    from: EvictedSource,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly place: FeedPlace | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** The next events that arrived, oldest first. */
  after(
    from: EvictedSource,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly arrival: Arrival;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** Null for an ID that none of them has. */
  find(from: EvictedSource, id: string, signal: AbortSignal): Promise<StoredArrival | null>;
  /** The last one that arrived before a time (epoch milliseconds). */
  lastBefore(from: EvictedSource, timeMs: number, signal: AbortSignal): Promise<Arrival | null>;
}

interface StoredArrival extends Arrival {
  readonly arrivedAtMs: number;
}

/** Null while all events of the source are in memory. */
export function findEvictedSource(sources: FeedSources, source: FeedSource): EvictedSource | null {
  const { run, evicted } = sources[source];
  const { through } = evicted;
  return through === null ? null : { source, run, evicted: { ...evicted, through } };
}

const sourceCategories: Readonly<Record<FeedSource, readonly StoredCategory[]>> = {
  measurement: ['measurement'],
  chain: ['protocol', 'players'],
};

export function listStoredCategories(category: FeedCategory, source: FeedSource): readonly StoredCategory[] {
  return sourceCategories[source].filter((one) => category === 'all' || category === one);
}
