import { followCursors } from './followCursors.ts';
import type { FeedEvent } from './sentEvents.ts';

interface Page {
  readonly events: readonly FeedEvent[];
  readonly nextCursor: string | null;
}

/**
 * Reads all events of the feed, newest first, page by page as a client does.
 *
 * @param readBody reads the body at a path; fails unless the status is 200.
 */
export async function readFeed(
  readBody: (path: string) => Promise<unknown>,
  category = 'all',
): Promise<FeedEvent[]> {
  const read = (cursor: string | null) =>
    readBody(`/v1/events?category=${category}&limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
  const events: FeedEvent[] = [];
  // A page of the feed has no events while the feed is unavailable.
  for await (const page of followCursors(read as (cursor: string | null) => Promise<Partial<Page>>))
    events.push(...(page.events ?? []));
  return events;
}
