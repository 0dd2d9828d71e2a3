import type { FeedCategory } from '../../../../actors/feed/feedItem.ts';
import type { Place } from '../../../addresses/place.ts';
import { findAvailable } from '../../components/Available.tsx';
import { Choice } from '../../components/Choice.tsx';
import { More, Newest } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { eventsPath } from '../../resources.ts';
import { EventList } from './EventList.tsx';

const names: Record<FeedCategory, string> = {
  all: 'Everything',
  protocol: 'Settling and minting',
  players: 'Owners',
  measurement: 'The wheel',
};

export function Feed(place: Extract<Place, { view: 'feed' }>) {
  const { category, earlier } = place;
  const events = usePage().read('events', eventsPath(category, earlier?.cursor));
  return (
    <section aria-labelledby="feed">
      <h1 id="feed">Feed</h1>
      <p class="lead">
        Events of the chain, with 12 confirmations, and milestones of the wheel, newest first.
      </p>
      <Choice
        label="Category"
        names={names}
        chosen={category}
        toPlace={(one) => ({ view: 'feed', category: one })}
      />
      <Newest place={place} />
      <EventList feed={events} />
      <More
        place={place}
        list="events"
        cursor={findAvailable(events)?.nextCursor ?? null}
        text="Earlier events"
      />
    </section>
  );
}
