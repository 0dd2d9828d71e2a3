import { More } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { ResourceNotice } from '../../components/ResourceNotice.tsx';
import type { FeedCategory } from '../../place.ts';
import { eventsPath } from '../../resources.ts';
import { EventList } from './EventList.tsx';

/** Events of a category, back to the first one page by page. */
export function EventPages({ category }: { category: FeedCategory }) {
  const path = eventsPath(category);
  const events = usePage().read('events', path);
  const cursor = events.body?.status === 'available' ? events.body.nextCursor : null;
  return (
    <>
      <ResourceNotice what="The feed" resource={events} />
      {events.body !== null && <EventList feed={events.body} />}
      <More path={path} cursor={cursor} text="Earlier events" />
    </>
  );
}
