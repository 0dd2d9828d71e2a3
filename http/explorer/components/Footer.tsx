import { formatPlace } from '../place.ts';
import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

export function Footer() {
  const { place, renderedAtMs } = usePage();
  return (
    <footer>
      {place.view !== 'missing' && (
        <p class="printed">
          Printed from {formatPlace(place)}, with the figures of{' '}
          <Time at={new Date(renderedAtMs).toISOString()} as="minute" />.
          <span class="sources"> Each has its route and field below it.</span>
        </p>
      )}
      <p>
        Everything here is read from this service’s own public routes
        <span class="screen sources">; press any figure to see which one</span>. Unknown is never shown as
        zero. For display: read the contracts again before you sign anything.
      </p>
      <Links />
    </footer>
  );
}

export function Links() {
  return (
    <p>
      <a href="/about">What this is</a> · <a href="/docs">Documentation of the routes</a> ·{' '}
      <a href="/openapi.json">OpenAPI</a> · <a href="/share">Badge and embed</a> · no cookies, nothing from
      elsewhere
    </p>
  );
}
