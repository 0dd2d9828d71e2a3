import { Choice } from '../../components/Choice.tsx';
import type { FeedCategory, Place } from '../../place.ts';
import { EventPages } from './EventList.tsx';

const names: Record<FeedCategory, string> = {
  all: 'Everything',
  protocol: 'Settling and minting',
  players: 'Owners',
  measurement: 'The wheel',
};

/** Events of a category, newest first, updated live. */
export function Feed(place: Extract<Place, { view: 'feed' }>) {
  const { category } = place;
  return (
    <section aria-labelledby="feed">
      <h1 id="feed">Feed</h1>
      <p class="lead">
        What happened on the chain, 12 Ethereum blocks deep, and what the wheel reached, newest first.
      </p>
      <Choice
        label="Category"
        names={names}
        chosen={category}
        toPlace={(one) => ({ view: 'feed', category: one })}
      />
      <EventPages category={category} place={place} />
    </section>
  );
}
