import type { Arrival } from '../events/arrival.ts';
import type { EvictedEvents } from '../events/eventWindow.ts';
import type { EventRow } from './eventRows.ts';
import type { StoredCategory } from './feedCategories.ts';
import type { FeedPlace } from './feedItem.ts';
import type { FeedSource, FeedSources, SourcePlace } from './feedPosition.ts';

/** A source with evicted events. Stored events may be read up to the newest evicted one. */
export interface EvictedSource {
  readonly source: FeedSource;
  readonly evicted: EvictedEvents & { readonly through: Arrival };
}

/**
 * Reads evicted events. The cost of a read hardly depends on their number.
 * Calls reject with RecordsUnavailable if their store does not answer, or does not hold all of the events in time.
 */
export interface OlderEvents {
  /** Events with one of the keys (`eventKeys.ts`) below a place of the feed, newest first; the newest events for null. */
  before(
    from: EvictedSource,
    query: {
      readonly keys: readonly string[];
      readonly place: FeedPlace | null;
      /** First time of recording (epoch milliseconds); null for any. */
      readonly fromMs: number | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** Events that arrived after the event at a place, oldest first; all for null. Null if the event is not there. */
  after(
    from: EvictedSource,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly place: SourcePlace | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[] | null>;
}

/** The source, if it has evicted events; otherwise null. */
export function findEvictedSource(sources: FeedSources, source: FeedSource): EvictedSource | null {
  const { evicted } = sources[source];
  const { through } = evicted;
  return through === null ? null : { source, evicted: { ...evicted, through } };
}
