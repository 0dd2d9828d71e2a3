import type { EventRow } from '../storedRows.ts';
import type { FeedPlace } from './feedIndex.ts';

/** Which stored events are wanted. */
export interface OlderEventsAsked {
  readonly source: 'measurement' | 'chain';
  readonly types: readonly string[];
  /** The events next to this one, without it; null for the newest. */
  readonly place: FeedPlace | null;
  /** `older`: newest first; `newer`: oldest first. */
  readonly direction: 'older' | 'newer';
  readonly limit: number;
  /** So many events of the source have been given up by memory, so at least as many are to be there. */
  readonly givenUp: number;
}

/** Events that memory has given up, from where they are stored. It may tell some that memory holds as well. */
export interface OlderEvents {
  /** @throws StorageUnavailable (as a rejection) when ClickHouse does not answer, or does not hold all of them yet. */
  read(asked: OlderEventsAsked, signal: AbortSignal): Promise<readonly EventRow[]>;
}
