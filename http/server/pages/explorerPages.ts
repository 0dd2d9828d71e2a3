import type { Clock } from '../../../actors/clock.ts';
import type { ChainFollowing } from '../../../actors/views/chain/chainViews.ts';
import { findPlace } from '../../addresses/findPlace.ts';
import { formatPlace, type Place } from '../../addresses/place.ts';
import { describeMissing, describeUnknownDay } from '../../addresses/search.ts';
import type { PageChain, ReadBody } from '../../explorer/page.ts';
import { listRecordEvents } from '../../explorer/resources.ts';
import { noStore, revalidated } from '../../routes/cacheControl.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { pageHeaders, retryAfter } from './pageHeaders.ts';
import { type ExplorerPage, listReadPaths, type PageRead, type PageReads } from './pageReads.ts';

export type ExplorerPages = ReturnType<typeof createExplorerPages>;

interface ExplorerPagesOptions {
  readonly reads: PageReads;
  readonly clock: Clock;
  /** Base URL of transactions in a block explorer, to which the hash is appended; null if not configured. */
  readonly transactionUrl: string | null;
  /** Public base URL of the pages, without a trailing slash; null if not configured. */
  readonly publicUrl: string | null;
}

/** Paths of the pages in the router's syntax. Pages of owners and records read lists; the others show shared views. */
export const sharedPaths = [
  '/',
  '/statistics',
  '/settlements',
  '/feed',
  '/owners',
  '/search',
  '/about',
  '/status',
  // They lead to the page that shows their list.
  '/miners',
  '/rounds',
  '/days',
  '/events',
];
export const recordPaths = [
  '/owners/:address',
  '/miners/:id',
  '/rounds/:id',
  '/transactions/:id',
  '/days/:id',
  // They lead to a transaction, or to the feed.
  '/events/:id',
  '/ethereum-blocks/:id',
];

/** Renders the explorer's pages (`http/explorer`) from what the routes answer, and from what the chain's views showed last while they cannot. */
export function createExplorerPages({ reads, clock, transactionUrl, publicUrl }: ExplorerPagesOptions) {
  const { findCurrent, keep, createReader, createPageReader, findKnown } = reads;

  function render(requested: Place, found: PageRead): PreparedResponse {
    const { renderPage, files } = loadExplorerBuild();
    const { old, read, following } = createPageReader(found);
    const place = findUnknown(requested, read) ?? requested;
    const settings = { transactionUrl, publicUrl, files };
    const chain = following === null ? null : toPageChain(following);
    const rendered = renderPage({ place, nowMs: clock.nowMs(), settings, chain, read, old });
    const html = Buffer.from(rendered.html);
    const isMissing = place.view === 'missing';
    // No view says whether a record or a further page of a list is current. The number of possible searches is unbounded. A failed read is repeated at the next request.
    const isKept =
      rendered.isComplete &&
      !('id' in requested || 'earlier' in requested || (isMissing && place.query !== undefined)) &&
      ![...found.bodies.values()].includes(null);
    const response = prepareDocument(html, {
      contentType: 'text/html; charset=utf-8',
      shown: rendered.shown,
      cacheControl: isMissing || !rendered.isComplete ? noStore : revalidated,
      own: rendered.isComplete ? pageHeaders : [...pageHeaders, retryAfter],
      isSingle: !isKept,
      ...(isMissing && place.others.length < 2 && { status: '404 Not Found' }),
      // An open page keeps what it shows, instead of a page without something that was never read.
      ...(!rendered.isComplete && { status: '503 Service Unavailable' }),
    });
    if (isKept)
      keep(nameCached(place), { response, bytes: html.length, expiresAtMs: rendered.expiresAtMs }, found);
    return response;
  }

  /** Says that a record does not exist; null if it does, or if that cannot be read at the moment. */
  function findUnknown(place: Place, read: ReadBody): Place | null {
    if (!('id' in place) || listRecordEvents(place.view, place.id, read)?.length !== 0) return null;
    if (place.view === 'day') return describeUnknownDay(place.id, findKnown());
    return place.view === 'miner' && !findKnown().mayBeMiner(place.id)
      ? describeMissing('There is no miner with this number at the safe block.')
      : null;
  }

  function toPage(place: Place): ExplorerPage {
    const current = findCurrent(nameCached(place));
    if (current !== null) return { current };
    // It reads nothing that could be busy.
    if (place.view === 'about') return { current: render(place, { bodies: new Map(), news: reads.news() }) };
    return { current, paths: listReadPaths(place), render: (found) => render(place, found) };
  }

  /** An Ethereum block has no page, but leads to a transaction of it that the feed knows. */
  function toTransaction(eventsPath: string, missing: Place): ExplorerPage {
    return {
      current: null,
      paths: [eventsPath],
      render: (found) => {
        const feed = createReader(found)('events', eventsPath);
        const source = feed?.status === 'available' ? feed.events[0]?.source : undefined;
        return source?.kind === 'chain'
          ? redirect(formatPlace({ view: 'transaction', id: source.transactionHash }))
          : render(missing, found);
      },
    };
  }

  return {
    find: (path: string, query: string): ExplorerPage => {
      const place = findPlace(path, query, findKnown);
      const [, block] = /^\/ethereum-blocks\/(\d{1,15})$/.exec(path) ?? [];
      if (block !== undefined && typeof place !== 'string')
        return toTransaction(`/v1/events?ethereumBlock=${BigInt(block)}&limit=1`, place);
      return typeof place === 'string' ? { current: redirect(place) } : toPage(place);
    },
    /** The page of everything that does not exist. A path with a slash behind it leads to the one without. */
    missing: (path: string): ExplorerPage =>
      /[^/]\/$/.test(path) ? { current: redirect(path.slice(0, -1)) } : toPage(describeMissing(missingPage)),
  };
}

/** Null if no contracts are configured. */
function toPageChain({ target, reason, lastKnown }: ChainFollowing): PageChain | null {
  if (target === null) return null;
  return {
    target,
    reason,
    lastKnown: lastKnown && {
      blockNumber: String(lastKnown.blockNumber),
      at: new Date(lastKnown.timestampMs).toISOString(),
    },
  };
}

const missingPage =
  'There is no page at this address. Follow a link above, or search for what you expected here.';

/** A page by its contents: everything that is missing has the same address. */
function nameCached(place: Place): string {
  return place.view === 'missing' ? place.reason : formatPlace(place);
}

function redirect(path: string): PreparedResponse {
  return prepareDocument(Buffer.alloc(0), {
    contentType: 'text/plain',
    cacheControl: noStore,
    own: [['Location', path]],
    status: '303 See Other',
  });
}
