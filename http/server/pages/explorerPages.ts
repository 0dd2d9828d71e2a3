import type { Clock } from '../../../actors/clock.ts';
import type { ChainFollowing } from '../../../actors/views/chain/chainViewTypes.ts';
import { findDay } from '../../explorer/days.ts';
import { formatInteger } from '../../explorer/format/numbers.ts';
import type { Bodies, FeedEvent, MinerHolder, PageChain, ReadBody } from '../../explorer/page.ts';
import { type FeedCategory, formatPlace, type ListPlace, type Place } from '../../explorer/place.ts';
import {
  corePath,
  eventsPath,
  issuancePath,
  listMinerPaths,
  listOwnerPaths,
  metadataPath,
  statisticsPath,
  statusPath,
} from '../../explorer/resources.ts';
import { countBlocks } from '../../explorer/rounds.ts';
import { describeMissing, describeUnknownDay, type Known } from '../../explorer/search.ts';
import { noStore, revalidated } from '../../routes/cacheControl.ts';
import type { ReadResult, RouteSources } from '../../routes/route.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import { retryAfterSeconds } from '../answers/routeAnswers.ts';
import type { Header } from '../engine/headerBlock.ts';
import {
  describeCategoryFeed,
  describeRecordFeed,
  findFeedSubject,
  type OwnerOrMiner,
  writeAtomFeed,
} from './atomFeed.ts';
import { drawBadge } from './badge.ts';
import { type CsvTable, findCsvTable } from './csvTables.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { findPlace } from './findPlace.ts';
import { findHolder } from './minerHolder.ts';
import { createPageBodies, followingName } from './pageBodies.ts';
import { createPageCache } from './pageCache.ts';
import { embedHeaders, pageHeaders, shareHeaders } from './pageHeaders.ts';
import { createRecordEvents } from './recordEvents.ts';

/** What is read before a page is rendered. */
interface PageRead {
  /** Bodies by path; null if a body could not be read. */
  readonly bodies: ReadonlyMap<string, unknown>;
  /** Events of a record; null if they could not be read. */
  readonly events: readonly FeedEvent[] | null;
  /** Owner of the miner that is shown; null if it is unknown. */
  readonly holder: MinerHolder | null;
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
  /** A table as a file; null for an unknown name. */
  table(name: string, query: string): ExplorerPage | null;
  /** The page of everything that does not exist. */
  missing(): ExplorerPage;
  /** What happened last, for feed readers: in a category, to an owner, or to a miner. Null for an owner or a miner that cannot be. */
  feed(query: string): ExplorerPage | null;
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
  '/about',
  '/embed',
  '/share',
] as const;
export const recordPaths = [
  '/owners/:address',
  '/miners/:id',
  '/rounds/:id',
  '/blocks/:id',
  '/ethereum-blocks/:id',
  '/transactions/:id',
  '/events/:id',
  '/days/:id',
  // Leads to the transaction.
  '/settlements/:id',
] as const;

/** Headers of the pages that frame something, or that others may frame. */
const headersByView: Partial<Record<Place['view'], readonly Header[]>> = {
  embed: embedHeaders,
  share: shareHeaders,
};

interface CachedPage {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** The views that the page was rendered from, by path of their route. */
  readonly views: ReadonlyMap<string, object | null>;
  /** When it is wrong even if the views are the same, in epoch milliseconds. */
  readonly expiresAtMs: number;
}

/** Renders the explorer's pages from the same views as the routes (`http/explorer`). */
export function createExplorerPages(options: ExplorerPagesOptions): ExplorerPages {
  const { sources, hasViews, clock, transactionUrl, publicUrl } = options;
  const bodies = createPageBodies(sources, hasViews);
  const cache = createPageCache<CachedPage>();
  const findEvents = createRecordEvents(bodies.feed, hasViews);

  function findCurrent(key: string): PreparedResponse | null {
    const existing = cache.get(key);
    const isCurrent =
      existing !== undefined &&
      clock.nowMs() < existing.expiresAtMs &&
      [...existing.views].every(([path, view]) => view === bodies.findView(path));
    return isCurrent ? existing.response : null;
  }

  /** Reads bodies of routes, and the events of a record. */
  function readBodies(listed: readonly string[], record: Place | null, signal: AbortSignal) {
    const holder = record?.view === 'miner' ? findHolder(sources.views.chain, Number(record.id)) : null;
    const paths = holder === null ? listed : [...listed, ...Object.values(listMinerPaths(holder))];
    const found = paths.map((path) => bodies.readLater(path, signal));
    const collect = (known: readonly unknown[], events: PageRead['events']) => ({
      body: { bodies: new Map(paths.map((path, index) => [path, known[index]])), events, holder },
    });
    if (record !== null && 'id' in record)
      return Promise.all([Promise.all(found), findEvents(record.view, record.id, signal)]).then(
        ([known, events]) => collect(known, events),
      );
    return found.some((one) => one instanceof Promise)
      ? Promise.all(found).then((known) => collect(known, []))
      : collect(found, []);
  }

  /** Reads bodies that were read before, or else views, which are noted. */
  function createReader(known: ReadonlyMap<string, unknown>) {
    const views = new Map<string, object | null>();
    const read = (path: string) => {
      if (known.has(path)) return known.get(path) ?? null;
      views.set(path, bodies.findView(path));
      return bodies.read(path);
    };
    return { views, read };
  }

  function render(requested: Place, { bodies: known, events, holder }: PageRead): PreparedResponse {
    const { renderPage, files } = loadExplorerBuild();
    const place = findUnknown(requested, events, readKnown) ?? requested;
    const { views, read } = createReader(known);
    const settings = { transactionUrl, publicUrl, files };
    const following = bodies.findView(followingName) as ChainFollowing | null;
    views.set(followingName, following);
    const chain = following === null ? null : toPageChain(following);
    const rendered = renderPage({ place, nowMs: clock.nowMs(), settings, events, holder, chain, read });
    const html = Buffer.from(rendered.html);
    const isMissing = place.view === 'missing';
    const ownHeaders = headersByView[place.view] ?? pageHeaders;
    const response = prepareDocument(html, {
      contentType: 'text/html; charset=utf-8',
      cacheControl: isMissing || !rendered.isComplete ? noStore : revalidated,
      own: rendered.isComplete ? ownHeaders : [...ownHeaders, retryAfter],
      isSingle: known.size > 0,
      ...(isMissing && place.others.length < 2 && { status: '404 Not Found' }),
      // An open page keeps what it shows, instead of a page without it.
      ...(!rendered.isComplete && { status: '503 Service Unavailable' }),
    });
    // No view says whether a record or a further page of a list is current. The number of possible searches is unbounded. A failed read is repeated at the next request.
    const isKept =
      !('id' in requested) && !('earlier' in requested) && !(isMissing && place.query !== undefined);
    if (isKept && ![...known.values()].includes(null))
      cache.set(nameCached(place), {
        response,
        bytes: html.length,
        views,
        expiresAtMs: rendered.expiresAtMs,
      });
    return response;
  }

  function writeTable(table: CsvTable, { bodies: known }: PageRead): PreparedResponse {
    const { views, read } = createReader(known);
    const file = table.write(((_name, path) => read(path)) as ReadBody);
    if (file === null) return describeUnreadable('table');
    if (file === 'none')
      return prepareDocument(Buffer.from('There is no such table.\n'), {
        contentType: 'text/plain; charset=utf-8',
        cacheControl: noStore,
        own: [],
        status: '404 Not Found',
      });
    const bytes = Buffer.from(file.text);
    const response = prepareDocument(bytes, {
      contentType: 'text/csv; charset=utf-8; header=present',
      cacheControl: revalidated,
      own: [['Content-Disposition', `attachment; filename="${file.name}"`]],
      isSingle: known.size > 0,
    });
    if (known.size === 0)
      cache.set(table.key, { response, bytes: bytes.length, views, expiresAtMs: Number.POSITIVE_INFINITY });
    return response;
  }

  /** A document that is written from views, once per change of them. */
  function findDocument(
    key: string,
    contentType: string,
    write: (read: ReadBody) => string | null,
  ): PreparedResponse | null {
    const current = findCurrent(key);
    if (current !== null) return current;
    const { views, read } = createReader(new Map());
    // Events have no view of their own. They follow the chain and the readings.
    for (const path of [statusPath, corePath]) views.set(path, bodies.findView(path));
    const text = write(((_name, path) => read(path)) as ReadBody);
    if (text === null) return null;
    const bytes = Buffer.from(text);
    const response = prepareDocument(bytes, { contentType, cacheControl: revalidated, own: [] });
    cache.set(key, { response, bytes: bytes.length, views, expiresAtMs: Number.POSITIVE_INFINITY });
    return response;
  }

  function readCategoryFeed(category: FeedCategory): PreparedResponse {
    const document = findDocument(`atom ${category}`, atomType, (read) => {
      const feed = read('events', eventsPath(category));
      return feed?.status === 'available'
        ? writeAtomFeed(describeCategoryFeed(feed), publicUrl, clock.nowMs())
        : null;
    });
    return document ?? describeUnreadable('feed');
  }

  function toRecordFeed(subject: OwnerOrMiner): ExplorerPage {
    return {
      current: null,
      read: (signal) => readBodies(listReadPaths(subject), subject, signal),
      render: (found) => {
        const { read } = createReader(found.bodies);
        const feed = describeRecordFeed(subject, found, ((_name, path) => read(path)) as ReadBody);
        if (feed === null) return describeUnreadable('feed');
        return prepareDocument(Buffer.from(writeAtomFeed(feed, publicUrl, clock.nowMs())), {
          contentType: atomType,
          cacheControl: revalidated,
          own: [],
          isSingle: true,
        });
      },
    };
  }

  function toPage(place: Place): ExplorerPage {
    const current = findCurrent(nameCached(place));
    if (current !== null) return { current };
    return {
      current,
      read: (signal) => readBodies(listReadPaths(place), place, signal),
      render: (found) => render(place, found),
    };
  }

  function readKnown(): Known {
    // Each is the body of its route, or null.
    const body = bodies.read(corePath) as Bodies['core'] | null;
    const issuance = bodies.read(issuancePath) as Bodies['issuance'] | null;
    const statistics = bodies.read(statisticsPath('30d')) as Bodies['statistics'] | null;
    const core = body?.status === 'available' ? body : null;
    const genesisMs = core === null ? null : Number(core.configuration.genesisTimestamp) * 1000;
    // The statistics show days before the first round and the first reading, too.
    const starts = [statistics?.window.startAt, statistics?.lifetime.firstObservedAt];
    const startsMs = starts.flatMap((start) => (start == null ? [] : [Date.parse(start)]));
    const collection = issuance?.status === 'available' ? issuance.collection : undefined;
    return {
      nowMs: clock.nowMs(),
      genesisMs,
      blockHeight: core && countBlocks(core.core.cumulativeBlockUnits),
      ethereumBlocks: core && [BigInt(core.chain.deploymentBlock), BigInt(core.chain.safeThroughBlock)],
      firstDay: startsMs.length === 0 ? null : findDay(Math.min(...startsMs, genesisMs ?? Infinity)),
      mayBeMiner: (id) => {
        const token = bodies.read(metadataPath(id)) as Bodies['metadata'] | null;
        const isMissing = token?.status === 'unavailable' && token.reason === 'not_yet_safe';
        if (!isMissing || collection === undefined) return true;
        // Miners are numbered in the order of their creation. One of these is gone if it was merged.
        return BigInt(id) <= BigInt(collection.publicMinted) + BigInt(collection.reserveMinted);
      },
    };
  }

  return {
    find: (path, query) => {
      const place = findPlace(path, query, readKnown);
      return typeof place === 'string' ? { current: redirect(place) } : toPage(place);
    },
    table: (name, query) => {
      const table = findCsvTable(name, query);
      if (table === null) return null;
      const current = findCurrent(table.key);
      if (current !== null) return { current };
      return {
        current,
        read: (signal) => readBodies(table.readPaths, null, signal),
        render: (found) => writeTable(table, found),
      };
    },
    feed: (query) => {
      const subject = findFeedSubject(query);
      if (subject === null) return null;
      return subject.view === 'feed'
        ? { current: readCategoryFeed(subject.category) }
        : toRecordFeed(subject);
    },
    badge: () =>
      findDocument('badge', 'image/svg+xml', (read) =>
        drawBadge(read('status', statusPath), read('statistics', statisticsPath('7d'))),
      ),
    missing: () => toPage(describeMissing(missingPage)),
    file: (name) => loadExplorerBuild().responses.get(name) ?? null,
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

const retryAfter: Header = ['Retry-After', String(retryAfterSeconds)];

const atomType = 'application/atom+xml; charset=utf-8';

/** Says that a file cannot be written at the moment. */
function describeUnreadable(what: 'table' | 'feed'): PreparedResponse {
  return prepareDocument(Buffer.from(`The ${what} cannot be read at the moment.\n`), {
    contentType: 'text/plain; charset=utf-8',
    cacheControl: noStore,
    own: [retryAfter],
    status: '503 Service Unavailable',
  });
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

/** Says that a record does not exist; null if it does, or if that cannot be read at the moment. */
function findUnknown(place: Place, events: PageRead['events'], readKnown: () => Known): Place | null {
  if (!('id' in place) || events === null || events.length > 0) return null;
  const { id } = place;
  switch (place.view) {
    case 'event':
      return describeMissing(
        'No event with this ID is known. It may have been in a block that a reorganization has replaced.',
      );
    case 'miner':
      return readKnown().mayBeMiner(id)
        ? null
        : describeMissing('There is no miner with this number at the safe block.');
    case 'ethereum-block': {
      const { ethereumBlocks } = readKnown();
      if (ethereumBlocks === null) return null;
      const [first, last] = ethereumBlocks;
      if (BigInt(id) < first)
        return describeMissing(
          `The contracts are not in the chain yet in this Ethereum block: they begin with Ethereum block ${formatInteger(String(first))}.`,
        );
      return BigInt(id) <= last
        ? null
        : describeMissing(
            `This Ethereum block is not known yet, or not 12 blocks deep. The newest that counts is Ethereum block ${formatInteger(String(last))}.`,
          );
    }
    case 'day':
      return describeUnknownDay(id, readKnown());
    default:
      return null;
  }
}

/** Paths of the routes that a page must read, because no view says whether their bodies are current. */
function listReadPaths(place: Place): string[] {
  switch (place.view) {
    case 'miner':
      return [metadataPath(place.id)];
    case 'owners':
      if (place.address !== null) return Object.values(listOwnerPaths(place.address, place.earlier));
      return listEarlier('players', place);
    case 'feed':
      return listEarlier(place.category, place);
    case 'settlements':
      return listEarlier('protocol', place);
    default:
      return [];
  }
}

function listEarlier(category: FeedCategory, { earlier }: ListPlace): string[] {
  return earlier === undefined ? [] : [eventsPath(category, earlier.cursor)];
}
