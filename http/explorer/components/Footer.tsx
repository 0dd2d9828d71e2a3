import { time } from '../format/times.ts';
import { Sources } from './Sources.tsx';
import { Timed } from './Time.tsx';

export function Footer() {
  return (
    <>
      <p>
        {/* The page's script lets visitors choose their own zone. */}
        Times: <Timed text={time('zone')} />{' '}
        <button type="button" class="plain needs-script" id="zone-choice">
          Change<span class="visually-hidden"> between UTC and your time zone</span>
        </button>
      </p>
      <Sources />
      <p>Unknown is never shown as zero. Read the contracts again before you sign anything.</p>
      <Links />
    </>
  );
}

export function Links() {
  return (
    <p>
      <a href="/about">About</a> · <a href="/status">Status</a> · <a href="/docs">API documentation</a> ·{' '}
      <a href="/openapi.json">OpenAPI</a> · no cookies, no third parties
    </p>
  );
}
