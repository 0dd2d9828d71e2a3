import { Choice } from '../../components/Choice.tsx';
import { usePage } from '../../components/pageContext.ts';
import type { FeedCategory } from '../../place.ts';
import { corePath } from '../../resources.ts';
import { EventPages } from './EventList.tsx';

const names: Record<FeedCategory, string> = {
  all: 'Everything',
  protocol: 'Settling and minting',
  players: 'Owners',
  measurement: 'The wheel',
};

/** Events of a category, newest first, updated live. */
export function Feed({ category }: { category: FeedCategory }) {
  const { read, connection } = usePage();
  // The core's settled rounds reveal a reorganization, after which the list is read again.
  read('core', corePath);
  const isLive = connection?.stream === 'open' || connection?.stream === 'shared';
  return (
    <section aria-labelledby="feed">
      <h1 id="feed">Feed</h1>
      <p class="lead">
        What happened on the chain, 12 blocks deep, and what the wheel reached, newest first. A feed reader
        can <a href={`/feed.atom?category=${category}`}>subscribe to this list</a>.
      </p>
      <Choice
        label="Category"
        names={names}
        chosen={category}
        toPlace={(one) => ({ view: 'feed', category: one })}
      />
      <p class="stream-state small quiet">
        {connection !== null &&
          (isLive ? 'New events appear by themselves.' : 'Live events are not connected at the moment.')}
      </p>
      <EventPages category={category} />
    </section>
  );
}
