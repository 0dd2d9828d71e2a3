import { Unavailable } from '../components/Banner.tsx';
import { Time } from '../components/Time.tsx';
import { TransactionLink } from '../components/TransactionLink.tsx';
import { describeEvent, nameEventSource, nameFamily, shortenOwner } from '../format/events.ts';
import { explain } from '../format/words.ts';
import type { Bodies, FeedEvent } from '../page.ts';

/** Events in sentences, newest first. */
export function EventList({ feed, max }: { feed: Bodies['events']; max?: number }) {
  if (feed.status === 'unavailable') return <Unavailable>{explain(feed.reason)}</Unavailable>;
  if (feed.events.length === 0) return <p class="empty">Nothing has happened in this category yet.</p>;
  return (
    <ol class="events">
      {feed.events.slice(0, max ?? feed.events.length).map((event) => (
        <EventItem key={event.id} event={event} />
      ))}
    </ol>
  );
}

function EventItem({ event }: { event: FeedEvent }) {
  const { title, sentence, owner } = describeEvent(event);
  return (
    <li class={`event ${nameFamily(event)}`}>
      <div class="event-text">
        <strong>{title}</strong> {sentence}
        {owner !== null && (
          <>
            {' '}
            <a href={`/owners/${owner}`} title={owner}>
              {shortenOwner(owner)}
            </a>
          </>
        )}
      </div>
      <div class="event-source quiet small">
        <Time at={event.occurredAt} as="minute" /> · {nameEventSource(event)}
        {event.source.kind === 'chain' && (
          <>
            {' · '}
            <TransactionLink hash={event.source.transactionHash} />
          </>
        )}
      </div>
    </li>
  );
}
