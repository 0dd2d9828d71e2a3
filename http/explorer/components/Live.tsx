import { Banner } from './Banner.tsx';
import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

/** Whether the page follows. Its script shows one of these; without script they stay hidden. */
export function Liveness() {
  return (
    <p class="liveness" role="status">
      <span class="when live">Live</span>
      <span class="when busy">Waiting</span>
      <span class="when lost">Not connected</span>
    </p>
  );
}

/** Why the page does not follow, in one line for all that it shows. The page’s script shows one of the lines. */
export function LiveNotices() {
  const renderedAt = new Date(usePage().nowMs).toISOString();
  const shown = (
    <>
      What is shown is of{' '}
      <span class="shown-at">
        <Time at={renderedAt} as="minute" />
      </span>
    </>
  );
  return (
    <div class="banners" id="notices">
      <noscript>
        <p class="banner note">
          <strong>Without JavaScript</strong> this page does not follow by itself. {shown}; load it again for
          what is newer.
        </p>
      </noscript>
      {notices.map(([when, severity, title, before, after]) => (
        <div key={when} class={`when ${when}`}>
          <Banner severity={severity} title={title}>
            {before}
            {shown}. {after}
          </Banner>
        </div>
      ))}
      <div class="when reverted">
        <Banner severity="warning" title="The chain was reorganized.">
          What was shown as settled from round <span class="first-round" /> through round{' '}
          <span class="last-round" /> is not in the chain that is there now. What is shown is what that holds.
        </Banner>
      </div>
    </div>
  );
}

const notices = [
  [
    'lost',
    'warning',
    'Connection lost.',
    '',
    'The page continues by itself as soon as the service can be reached.',
  ],
  [
    'limited',
    'note',
    'Asked too often.',
    'Too many requests came from this address. ',
    'The page asks again by itself.',
  ],
  ['failed', 'warning', 'The service cannot answer for a moment.', '', 'The page asks again by itself.'],
  ['gone', 'warning', 'The service does not know this page any more.', '', ''],
] as const;
