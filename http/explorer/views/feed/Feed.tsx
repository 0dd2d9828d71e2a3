import { Choice } from '../../components/Choice.tsx';
import { More } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { ResourceNotice } from '../../components/ResourceNotice.tsx';
import { type FeedCategory, feedCategories } from '../../place.ts';
import { corePath, eventsPath } from '../../resources.ts';
import { EventList } from './EventList.tsx';

const names: Record<FeedCategory, string> = {
  all: 'Everything',
  protocol: 'Settling and minting',
  players: 'Owners',
  measurement: 'The wheel',
};

/** Events of a category, newest first, updated live. */
export function Feed({ category }: { category: FeedCategory }) {
  const { read, connection } = usePage();
  const path = eventsPath(category);
  const events = read('events', path);
  // The core's settled rounds reveal a reorganization, after which the list is read again.
  read('core', corePath);
  const cursor = events.body?.status === 'available' ? events.body.nextCursor : null;
  const isLive = connection?.stream === 'open' || connection?.stream === 'shared';
  return (
    <section aria-labelledby="feed">
      <h1 id="feed">Feed</h1>
      <p class="lead">
        What happened on the chain, 12 blocks deep, and what the wheel reached, newest first.
      </p>
      <Choice
        label="Category"
        names={names}
        options={feedCategories}
        chosen={category}
        toPlace={(one) => ({ view: 'feed', category: one })}
      />
      <p class="stream-state small quiet">
        {connection !== null &&
          (isLive ? 'New events appear by themselves.' : 'Live events are not connected at the moment.')}
      </p>
      <ResourceNotice what="The feed" resource={events} />
      {events.body !== null && <EventList feed={events.body} />}
      <More path={path} cursor={cursor} text="Earlier events" />
    </section>
  );
}
