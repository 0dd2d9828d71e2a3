import type { Clock } from '../../../actors/clock.ts';
import { formatInteger } from '../../explorer/format/numbers.ts';
import { type Bodies, type FeedEvent, type ResourceName, searchedEventsMax } from '../../explorer/page.ts';
import { formatPlace, type Place, parsePlace, type RecordView } from '../../explorer/place.ts';
import {
  activityPath,
  corePath,
  eventsPath,
  metadataPath,
  portfolioPath,
  statisticsPath,
  statusPath,
} from '../../explorer/resources.ts';
import { describeMissing } from '../../explorer/search.ts';
import { noStore, revalidated } from '../../routes/cacheControl.ts';
import type { ReadResult, RouteSources } from '../../routes/route.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import { writeAtomFeed } from './atomFeed.ts';
import { drawBadge } from './badge.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { findPlace } from './findPlace.ts';
import { createPageBodies } from './pageBodies.ts';
import { createPageCache } from './pageCache.ts';
import { buildPageHeaders } from './pageHeaders.ts';
import { createRecordEvents } from './recordEvents.ts';

/** What is read before a page is rendered. */
interface PageRead {
  /** Bodies by path; null if a body could not be read. */
  readonly bodies: ReadonlyMap<string, unknown>;
  /** Events of a record; null if they could not be read. */
  readonly events: readonly FeedEvent[] | null;
}

export type ExplorerPage =
  /** A redirection, or the cached page if its figures are current. */
  | { readonly current: PreparedResponse }
  /** It must be rendered, which costs as much as an expensive request. */
  | {
      readonly current: null;
      read(signal: AbortSignal): ReadResult<PageRead> | Promise<ReadResult<PageRead>>;
      render(read: PageRead): PreparedResponse;
    };

export interface ExplorerPages {
  find(path: string, query: string): ExplorerPage;
  /** The page of everything that does not exist. */
  missing(): ExplorerPage;
  /** The newest events of a category for feed readers; null if they cannot be read at the moment. */
  feed(query: string): PreparedResponse | null;
  badge(): PreparedResponse | null;
  /** A file that pages refer to; null for an unknown name. */
  file(name: string): PreparedResponse | null;
}

interface ExplorerPagesOptions {
  readonly sources: RouteSources;
  /** False until state is restored. Until then pages have no figures. */
  readonly hasViews: () => boolean;
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
  '/embed',
] as const;
export const recordPaths = [
  '/owners/:address',
  '/miners/:id',
  '/rounds/:id',
  '/blocks/:id',
  '/settlements/:id',
  '/events/:id',
] as const;

/** Everything comes from this service. Pictures of tokens are SVG in data URIs; as images they run no script. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors";
const pageHeaders = buildPageHeaders(`${policy} 'none'`);
/** The only page that other sites may show in a frame. */
const embedHeaders = buildPageHeaders(`${policy} *`);

/** Reads the body of a route; null if it has none at the moment. */
type ReadView = <Name extends ResourceName>(name: Name, path: string) => Bodies[Name] | null;

interface CachedPage {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** The views that the page was rendered from, by path of their route. */
  readonly views: ReadonlyMap<string, object | null>;
}

/** Renders the explorer's pages from the same views as the routes (`http/explorer`). */
export function createExplorerPages(options: ExplorerPagesOptions): ExplorerPages {
  const { sources, hasViews, clock, transactionUrl, publicUrl } = options;
  const bodies = createPageBodies(sources, hasViews);
  const cache = createPageCache<CachedPage>();
  const findEvents = createRecordEvents(sources.views.feed, hasViews);

  function findCurrent(key: string): PreparedResponse | null {
    const existing = cache.get(key);
    const isCurrent =
      existing !== undefined && [...existing.views].every(([path, view]) => view === bodies.findView(path));
    return isCurrent ? existing.response : null;
  }

  function read(place: Place, signal: AbortSignal) {
    const paths = listReadPaths(place);
    const found = paths.map((path) => bodies.readLater(path, signal));
    const collect = (known: readonly unknown[], events: PageRead['events']) => ({
      body: { bodies: new Map(paths.map((path, index) => [path, known[index]])), events },
    });
    if ('id' in place)
      return Promise.all([Promise.all(found), findEvents(place.view, place.id, signal)]).then(
        ([known, events]) => collect(known, events),
      );
    return found.some((one) => one instanceof Promise)
      ? Promise.all(found).then((known) => collect(known, []))
      : collect(found, []);
  }

  function render(requested: Place, { bodies: known, events }: PageRead): PreparedResponse {
    const { renderPage, files } = loadExplorerBuild();
    const views = new Map<string, object | null>();
    const place = findUnknown(requested, { bodies: known, events }) ?? requested;
    const html = Buffer.from(
      renderPage({
        place,
        nowMs: clock.nowMs(),
        settings: { transactionUrl, publicUrl, files },
        events,
        read: (path) => {
          if (known.has(path)) return known.get(path);
          views.set(path, bodies.findView(path));
          return bodies.read(path);
        },
      }),
    );
    const isMissing = place.view === 'missing';
    const response = prepareDocument(html, {
      contentType: 'text/html; charset=utf-8',
      cacheControl: isMissing ? noStore : revalidated,
      own: place.view === 'embed' ? embedHeaders : pageHeaders,
      isSingle: known.size > 0,
      ...(isMissing && place.others.length < 2 && { status: '404 Not Found' }),
    });
    // No view says whether a record is current. The number of possible searches is unbounded. A failed read is repeated at the next request.
    const isKept = !('id' in requested) && !(isMissing && place.query !== undefined);
    if (isKept && ![...known.values()].includes(null))
      cache.set(nameCached(place), { response, bytes: html.length, views });
    return response;
  }

  /** A document that is written from views, once per change of them. */
  function findDocument(
    key: string,
    contentType: string,
    write: (read: ReadView) => string | null,
  ): PreparedResponse | null {
    const current = findCurrent(key);
    if (current !== null) return current;
    const views = new Map<string, object | null>();
    // Events have no view of their own. They follow the chain and the readings.
    for (const path of [statusPath, corePath]) views.set(path, bodies.findView(path));
    const text = write(((_name: ResourceName, path: string) => {
      views.set(path, bodies.findView(path));
      return bodies.read(path);
    }) as ReadView);
    if (text === null) return null;
    const bytes = Buffer.from(text);
    const response = prepareDocument(bytes, { contentType, cacheControl: revalidated, own: [] });
    cache.set(key, { response, bytes: bytes.length, views });
    return response;
  }

  function toPage(place: Place): ExplorerPage {
    const current = findCurrent(nameCached(place));
    if (current !== null) return { current };
    return {
      current,
      read: (signal) => read(place, signal),
      render: (found) => render(place, found),
    };
  }

  function readGenesisMs(): number | null {
    // The body of this route, or null.
    const core = bodies.read(corePath) as Bodies['core'] | null;
    return core?.status === 'available' ? Number(core.configuration.genesisTimestamp) * 1000 : null;
  }

  return {
    find: (path, query) => {
      const place = findPlace(path, query, () => ({ nowMs: clock.nowMs(), genesisMs: readGenesisMs() }));
      return typeof place === 'string' ? { current: redirect(place) } : toPage(place);
    },
    feed: (query) => {
      const place = parsePlace('/feed', query);
      return findDocument(`atom ${formatPlace(place)}`, 'application/atom+xml; charset=utf-8', (read) => {
        const feed = place.view === 'feed' ? read('events', eventsPath(place.category)) : null;
        return feed?.status === 'available' ? writeAtomFeed(feed, publicUrl, clock.nowMs()) : null;
      });
    },
    badge: () =>
      findDocument('badge', 'image/svg+xml', (read) =>
        drawBadge(read('status', statusPath), read('statistics', statisticsPath('7d'))),
      ),
    missing: () => toPage(describeMissing(missingPage)),
    file: (name) => loadExplorerBuild().responses.get(name) ?? null,
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

const unknownRecords: Readonly<Record<RecordView, string>> = {
  miner: 'There is no miner with this number at the safe block.',
  round: '',
  block: 'Nothing that is shown here happened in a block with this number.',
  settlement: `None of the newest ${formatInteger(searchedEventsMax)} batches and mints belongs to this transaction. The page of a round shows older ones.`,
  event: 'No event with this ID is known. It may have been in a block that a reorganization has replaced.',
};

/** Says that a record does not exist; null if it does, or if that cannot be read at the moment. */
function findUnknown(place: Place, { bodies, events }: PageRead): Place | null {
  if (!('id' in place) || place.view === 'round') return null;
  // The body of this route, or null.
  const token = bodies.get(metadataPath(place.id)) as Bodies['metadata'] | null | undefined;
  const isUnknown =
    place.view === 'miner'
      ? token?.status === 'unavailable' && token.reason === 'not_yet_safe' && events !== null
      : events?.length === 0;
  return isUnknown ? describeMissing(unknownRecords[place.view]) : null;
}

/** Paths of the routes that a page must read, because no view says whether their bodies are current. */
function listReadPaths(place: Place): string[] {
  if (place.view === 'miner') return [metadataPath(place.id)];
  if (place.view !== 'owners' || place.address === null) return [];
  return [portfolioPath(place.address), activityPath(place.address)];
}
