import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

/** Whether the page follows. Its script shows one of these; without script they stay hidden. */
export function Liveness() {
  return (
    <p class="liveness" role="status">
      <span class="when live">Live</span>
      <span class="when busy">Waiting</span>
      <span class="when gone">Gone</span>
      <span class="when lost">Not connected</span>
    </p>
  );
}

/** Why the page does not follow, in one line for all that it shows. The page’s script shows one of the lines. */
export function LiveNotices() {
  const renderedAt = new Date(usePage().nowMs).toISOString();
  const shown = (
    <>
      This page is from{' '}
      <span class="shown-at">
        <Time at={renderedAt} as="minute" />
      </span>
    </>
  );
  return (
    <div class="banners" id="notices">
      <noscript>
        <p class="banner">
          <strong>Without JavaScript</strong> this page does not update itself. {shown}. Reload it for newer
          figures.
        </p>
      </noscript>
      {notices.map(([when, title, after]) => (
        <p key={when} class={`banner when ${when}`} role="status">
          <strong>{title}</strong> {shown}. {after}
        </p>
      ))}
      <p class="banner when reverted" role="status">
        <strong>The chain was reorganized.</strong> Rounds <span class="first-round" /> to{' '}
        <span class="last-round" /> are no longer settled. This page shows the new chain.
      </p>
    </div>
  );
}

const notices = [
  ['lost', 'Connection lost.', 'Reconnecting…'],
  ['busy', 'The service cannot answer now.', 'The page will try again.'],
  ['gone', 'This page no longer exists.', ''],
] as const;
