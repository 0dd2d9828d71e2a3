import { formatInteger } from '../format/numbers.ts';
import { formatDuration } from '../format/times.ts';
import { formatPlace, nameView, type Place } from '../place.ts';
import { statusPath } from '../resources.ts';
import { describeWheel, isLost } from '../wheelState.ts';
import { Banner } from './Banner.tsx';
import { useNowMs, usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

const places: readonly Place[] = [
  { view: 'glance' },
  { view: 'statistics', range: '7d' },
  { view: 'settlements', range: '7d' },
  { view: 'owners', address: null },
  { view: 'feed', category: 'all' },
];

const searchLengthMax = 600;

/** Name, navigation, connection state, and notices that concern every view. */
export function Header() {
  const { place, read, actions, connection, renderedAtMs } = usePage();
  const status = read('status', statusPath);
  const { state } = describeWheel(status, connection);
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/">
          <svg
            class={`logo ${status.body === null ? 'unknown' : state}`}
            viewBox="0 0 24 24"
            width="24"
            height="24"
            aria-hidden="true"
          >
            <circle cx="12" cy="12" r="9.5" />
            <path d="M12 2.5v19M2.5 12h19M5.3 5.3l13.4 13.4M18.7 5.3L5.3 18.7" />
          </svg>
          <span>
            Mining activity
            {status.body !== null && <span class="installation">{status.body.installationId}</span>}
          </span>
        </a>
        <Liveness />
        <nav class="places" aria-label="Views">
          {places.map((one) => (
            <a
              key={one.view}
              href={formatPlace(one)}
              aria-current={one.view === place.view ? 'page' : undefined}
            >
              {nameView(one)}
            </a>
          ))}
        </nav>
        <search class="search">
          <form action="/search">
            <input
              name="q"
              type="search"
              required
              value={place.view === 'missing' ? place.query : undefined}
              maxLength={searchLengthMax}
              spellcheck={false}
              autocomplete="off"
              autocapitalize="off"
              aria-label="Owner, miner, round, block, transaction or date"
              placeholder="Owner, miner, round, block, transaction or date"
            />
            <button type="submit">Search</button>
          </form>
        </search>
      </div>
      <div class="banners">
        {actions === null && (
          <noscript>
            <p class="banner note">
              <strong>Without JavaScript</strong> this page does not follow by itself. Its figures are of{' '}
              <Time at={new Date(renderedAtMs).toISOString()} as="minute" />; load it again for newer ones.
            </p>
          </noscript>
        )}
        <ConnectionBanner />
        <ReversalBanner />
      </div>
    </header>
  );
}

/** One sentence for all resources, which become unreachable together. */
function ConnectionBanner() {
  const { connection, read } = usePage();
  const nowMs = useNowMs();
  const status = read('status', statusPath);
  const { body, problem } = status;
  if (connection === null || !isLost(connection, status)) return null;
  const waitSeconds = Math.ceil(((problem?.retryAtMs ?? 0) - (nowMs ?? 0)) / 1000);
  return (
    <Banner severity="warning" title="Connection lost.">
      {body !== null && 'What is shown is the last that was known. '}
      The page continues by itself as soon as the service can be reached
      {waitSeconds > 0 && `; it tries again in ${formatDuration(waitSeconds)}`}.
    </Banner>
  );
}

/** Says that rounds shown as settled were reverted, until they are settled again. */
function ReversalBanner() {
  const { reversal } = usePage();
  if (reversal === null) return null;
  const { firstRound, lastRound } = reversal;
  const isOne = firstRound === lastRound;
  const rounds = isOne
    ? `Round ${formatInteger(String(firstRound))} was`
    : `Rounds ${formatInteger(String(firstRound))} to ${formatInteger(String(lastRound))} were`;
  return (
    <Banner severity="warning" title="The chain was reorganized.">
      {rounds} shown as settled, and {isOne ? 'is' : 'are'} not in the chain that is there now. What is shown
      is what that holds.
    </Banner>
  );
}

function Liveness() {
  const { connection, read } = usePage();
  if (connection === null) return null;
  const status = read('status', statusPath);
  const { body, problem } = status;
  const [kind, text] = isLost(connection, status)
    ? ['lost', 'Not connected']
    : problem !== null
      ? ['waiting', 'Waiting']
      : body === null
        ? ['waiting', 'Connecting']
        : ['live', 'Live'];
  return (
    <p class={`liveness ${kind}`} role="status">
      {text}
    </p>
  );
}
