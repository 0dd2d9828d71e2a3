import { followCursors } from './followCursors.ts';
import type { FeedEvent } from './sentEvents.ts';

interface Page {
  readonly events: readonly FeedEvent[];
  readonly nextCursor: string | null;
}

/**
 * All events of the feed, newest first, page by page as a client reads them.
 *
 * @param readBody of a path, or fails where the answer is another than 200.
 */
export async function readFeed(
  readBody: (path: string) => Promise<unknown>,
  category = 'all',
): Promise<FeedEvent[]> {
  const read = (cursor: string | null) =>
    readBody(`/v1/events?category=${category}&limit=100${cursor === null ? '' : `&cursor=${cursor}`}`);
  const events: FeedEvent[] = [];
  // A page of the feed; without events while it is unavailable.
  for await (const page of followCursors(read as (cursor: string | null) => Promise<Partial<Page>>))
    events.push(...(page.events ?? []));
  return events;
}
