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
          <span class="sources"> The source of each figure is printed below it.</span>
        </p>
      )}
      <p>
        <span class="screen sources">Select a figure to see its source. </span>Unknown is never shown as zero.
        Read the contracts again before you sign anything.
      </p>
      <Links />
    </footer>
  );
}

export function Links() {
  return (
    <p>
      <a href="/about">About</a> · <a href="/docs">API documentation</a> · <a href="/openapi.json">OpenAPI</a>{' '}
      · no cookies, no third parties
    </p>
  );
}
