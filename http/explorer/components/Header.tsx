import { describeUnreal, nameNetwork } from '../format/networks.ts';
import { time } from '../format/timeTexts.ts';
import { formatPlace, nameView, type Place } from '../place.ts';
import { statusPath } from '../resources.ts';
import { describeWheel } from '../wheelState.ts';
import { ChainBanner } from './Banner.tsx';
import { LiveNotices, Liveness } from './Live.tsx';
import { usePage } from './pageContext.ts';
import { Timed } from './Time.tsx';

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
  const { place, read, chain } = usePage();
  const status = read('status', statusPath);
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/">
          <svg
            class={`logo ${status === null ? 'unknown' : describeWheel(status).state}`}
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
            {status !== null && (
              <span class="installation">
                {status.installationId}
                {chain !== null && ` · ${nameNetwork(chain.target)}`}
              </span>
            )}
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
          <ZoneChoice />
        </search>
      </div>
      <Unreal />
      <LiveNotices />
      <ChainBanner />
    </header>
  );
}

/** Says what is not real, on every page and in frames. */
export function Unreal() {
  const { read, chain } = usePage();
  const unreal = describeUnreal(read('status', statusPath), chain);
  return unreal === null ? null : <p class="unreal">{unreal.sentence}</p>;
}

/** The zone of all times. The page's script lets the visitor choose their own. */
function ZoneChoice() {
  return (
    <p class="zone small quiet">
      Times: <Timed text={time('zone')} />{' '}
      <button type="button" class="plain needs-script screen" id="zone-choice">
        Change<span class="visually-hidden"> between UTC and your time zone</span>
      </button>
    </p>
  );
}
