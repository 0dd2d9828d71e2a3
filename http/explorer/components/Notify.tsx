import { findFeed, type Place } from '../place.ts';

/** How to hear of what is new on a page: by a feed reader, or by a program. */
export function Notify({ place }: { place: Place }) {
  const feed = findFeed(place);
  if (feed === null) return null;
  return (
    <section class="notify screen" aria-labelledby="notify">
      <h2 id="notify">Notify me</h2>
      <p>
        A feed reader can <a href={feed}>subscribe to what happens here</a> (Atom). A program can listen to{' '}
        <a href="/docs/events">the event stream</a>, which sends each event of the service as it becomes
        visible.
      </p>
    </section>
  );
}
