import { formatPlace } from '../../addresses/place.ts';
import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

export function Footer() {
  const { place, nowMs } = usePage();
  return (
    <footer>
      {place.view !== 'missing' && (
        <p class="printed">
          Printed from {formatPlace(place)}, with the figures of{' '}
          <Time at={new Date(nowMs).toISOString()} as="minute" />.
          <span class="sources"> Each has its route and field below it.</span>
        </p>
      )}
      <p>
        <span class="screen sources">Press any figure to see where it is from. </span>Unknown is never shown
        as zero. Read the contracts again before you sign anything.
      </p>
      <Links />
    </footer>
  );
}

export function Links() {
  return (
    <p>
      <a href="/about">What this is</a> · <a href="/docs">Documentation of the routes</a> ·{' '}
      <a href="/openapi.json">OpenAPI</a> · no cookies, nothing from elsewhere
    </p>
  );
}
