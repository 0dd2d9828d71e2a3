import type { Clock } from '../../../actors/clock.ts';
import type { FeedEvent, MinerHolder, ReadBody } from '../../explorer/page.ts';
import type { FeedCategory, ListPlace, Place } from '../../explorer/place.ts';
import { eventsPath, listMinerPaths, listOwnerPaths, metadataPath } from '../../explorer/resources.ts';
import type { ReadResult, RouteSources } from '../../routes/route.ts';
import type { PreparedResponse } from '../answers/preparedResponse.ts';
import { findHolder } from './minerHolder.ts';
import { createPageBodies } from './pageBodies.ts';
import { createPageCache } from './pageCache.ts';
import { createRecordEvents } from './recordEvents.ts';

/** Bodies and events that are read before a page is rendered. */
export interface PageRead {
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

/** A response that is kept while what it shows is the same. */
interface KeptResponse {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** The views that it was made from, by path of their route. */
  readonly views: ReadonlyMap<string, object | null>;
  /** When it is wrong even if the views are the same, in epoch milliseconds. */
  readonly expiresAtMs: number;
}

export type PageReads = ReturnType<typeof createPageReads>;

/**
 * Reads the bodies and events from which pages and files are made, and keeps responses that many ask for.
 *
 * @param hasViews false until state is restored. Until then there are no figures.
 */
export function createPageReads(sources: RouteSources, hasViews: () => boolean, clock: Clock) {
  const bodies = createPageBodies(sources, hasViews);
  const kept = createPageCache<KeptResponse>();
  const findEvents = createRecordEvents(bodies.feed, hasViews);

  function findCurrent(key: string): PreparedResponse | null {
    const existing = kept.get(key);
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
    const noteView = (path: string) => {
      const view = bodies.findView(path);
      views.set(path, view);
      return view;
    };
    const read = (path: string) => {
      if (known.has(path)) return known.get(path) ?? null;
      noteView(path);
      return bodies.read(path);
    };
    // Each path belongs to the route of its name (`resources.ts`).
    return { views, noteView, read, readBody: ((_name, path) => read(path)) as ReadBody };
  }

  return {
    findCurrent,
    keep: kept.set,
    readBodies,
    createReader,
    readBody: ((_name, path) => bodies.read(path)) as ReadBody,
  };
}

/** Paths of the routes that a page must read, because no view says whether their bodies are current. */
export function listReadPaths(place: Place): string[] {
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
