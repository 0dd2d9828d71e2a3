import { followPages, type Page } from './followPages.ts';
import type { FeedEvent } from './sentEvents.ts';

/**
 * Reads all events of the feed, newest first, page by page as a client does.
 *
 * @param readBody reads the body at a path; fails unless the status is 200.
 */
export async function readFeed(readBody: (path: string) => Promise<unknown>): Promise<FeedEvent[]> {
  const page = await followPages('/v1/events?limit=100', readBody as (path: string) => Promise<Page>);
  if (typeof page === 'string') throw new Error(page);
  // There are no events while the feed is unavailable.
  return (page.events ?? []) as FeedEvent[];
}
