import type { FeedEvent } from '../support/http/sentEvents.ts';
import type { MinerProcess } from '../support/processes/minerProcess.ts';

interface Page {
  readonly events: readonly FeedEvent[];
  readonly nextCursor: string | null;
}

/** All events of the feed, newest first, page by page as a client reads them. */
export async function readFeed(miner: MinerProcess): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page: Page = await miner.json<Page>(`/v1/events?limit=100${query}`);
    events.push(...page.events);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return events;
}
