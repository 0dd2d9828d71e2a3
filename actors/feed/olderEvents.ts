import type { EventRow } from '../storedRows.ts';
import type { FeedPlace, StoredCategory } from '../views/feedIndex.ts';
import type { Arrival } from './arrival.ts';
import type { GivenUpEvents } from './heldEvents.ts';
import type { FeedSource, FeedSources } from './streamPosition.ts';

/** The events of a source that memory has given up: nothing is read of another run, nor what came after them. */
export interface StoredEventsOf {
  readonly source: FeedSource;
  readonly run: string;
  readonly givenUp: GivenUpEvents & { readonly through: Arrival };
}

/**
 * Events that memory has given up, from where they are stored. A read costs about the same whatever is stored.
 * Every call is rejected with StorageUnavailable when ClickHouse does not answer, or does not hold all of them in time.
 */
export interface OlderEvents {
  /** The events next to a place of the feed, newest first; the newest ones for null. */
  before(
    of: StoredEventsOf,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly place: FeedPlace | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** The next events that arrived, oldest first. */
  after(
    of: StoredEventsOf,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly arrival: Arrival;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** Null for an ID that none of them has. */
  find(of: StoredEventsOf, id: string, signal: AbortSignal): Promise<StoredArrival | null>;
  /** The last one that arrived before a time (epoch milliseconds). */
  lastBefore(of: StoredEventsOf, timeMs: number, signal: AbortSignal): Promise<Arrival | null>;
}

export interface StoredArrival extends Arrival {
  readonly arrivedAtMs: number;
}

/** Null where memory still holds all events of the source. */
export function storedEventsOf(sources: FeedSources, source: FeedSource): StoredEventsOf | null {
  const { run, givenUp } = sources[source];
  const { through } = givenUp;
  return through === null ? null : { source, run, givenUp: { ...givenUp, through } };
}
