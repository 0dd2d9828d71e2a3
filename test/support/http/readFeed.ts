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
export async function readFeed(readBody: (path: string) => Promise<unknown>): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    // A page of the feed; without events while it is unavailable.
    const page = (await readBody(`/v1/events?limit=100${query}`)) as Partial<Page>;
    events.push(...(page.events ?? []));
    cursor = page.nextCursor ?? null;
  } while (cursor !== null);
  return events;
}
