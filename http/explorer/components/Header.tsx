import type { ComponentChildren } from 'preact';
import { formatPlace, type Place } from '../../addresses/place.ts';
import { describeUnreal, nameNetwork } from '../format/networks.ts';
import { nameView } from '../nameView.ts';
import { findMainPath, statusPath } from '../resources.ts';
import { describeWheel } from '../wheelState.ts';
import { LiveNotices, Liveness } from './Live.tsx';
import { Problems } from './Problems.tsx';
import { usePage } from './pageContext.ts';

const navigation: readonly Place[] = [
  { view: 'glance' },
  { view: 'statistics', range: '7d' },
  { view: 'settlements', range: '7d' },
  { view: 'owners', address: null },
  { view: 'feed', category: 'all' },
  { view: 'status' },
];

const searchLengthMax = 600;

export function Header() {
  const { place, read, chain } = usePage();
  const status = read('status', statusPath);
  const unreal = describeUnreal(status, chain);
  return (
    <>
      <Bar
        logo={status === null ? 'unknown' : describeWheel(status).state}
        installation={
          status === null
            ? undefined
            : [status.installationId, ...(chain === null ? [] : [nameNetwork(chain.target)])].join(' · ')
        }
        current={place.view}
        query={place.view === 'missing' ? place.query : undefined}
        liveness={<Liveness />}
        json={findMainPath(place)}
      />
      {unreal !== null && <p class="unreal">{unreal.sentence}</p>}
      <LiveNotices />
      <Problems />
    </>
  );
}

interface BarProps {
  /** State of the wheel, or empty. */
  readonly logo: string;
  readonly installation?: string | undefined;
  /** View of the present page; `docs` for the documentation. */
  readonly current: Place['view'] | 'docs' | null;
  readonly query?: string | undefined;
  readonly liveness?: ComponentChildren;
  /** Path of the route with most of what the page shows; null without one. */
  readonly json?: string | null;
}

export function Bar({ logo, installation, current, query, liveness, json = null }: BarProps) {
  return (
    <div class="bar">
      <a class="brand" href="/">
        <svg class={`logo ${logo}`} viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
          <circle cx="12" cy="12" r="9.5" />
          <path d="M12 2.5v19M2.5 12h19M5.3 5.3l13.4 13.4M18.7 5.3L5.3 18.7" />
        </svg>
        <span>
          Mining activity
          {installation !== undefined && <span class="installation">{installation}</span>}
        </span>
      </a>
      {liveness}
      {json !== null && (
        <a class="small" href={json}>
          <span class="visually-hidden">This page as </span>JSON
        </a>
      )}
      <nav class="places" aria-label="Views">
        {navigation.map((one) => (
          <a key={one.view} href={formatPlace(one)} aria-current={one.view === current ? 'page' : undefined}>
            {nameView(one)}
          </a>
        ))}
        <a href="/docs" aria-current={current === 'docs' ? 'page' : undefined}>
          Docs
        </a>
      </nav>
      <search class="search">
        <form action="/search">
          <input
            name="q"
            type="search"
            required
            value={query}
            maxLength={searchLengthMax}
            spellcheck={false}
            autocomplete="off"
            autocapitalize="off"
            aria-label="Owner, miner, round, transaction or date"
            placeholder="Address, number, date"
          />
          <button type="submit">Search</button>
        </form>
      </search>
    </div>
  );
}
