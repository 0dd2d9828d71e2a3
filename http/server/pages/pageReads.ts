import type { Clock } from '../../../actors/clock.ts';
import { readKnown } from '../../addresses/knownRecords.ts';
import type { Place } from '../../addresses/place.ts';
import type { Bodies } from '../../explorer/page.ts';
import {
  eventsPath,
  listOwnerPaths,
  metadataPath,
  recordPath,
  statusPath,
  toReadBody,
} from '../../explorer/resources.ts';
import type { HttpError } from '../../routes/errors.ts';
import type { RouteSources } from '../../routes/route.ts';
import type { PreparedResponse } from '../answers/preparedResponse.ts';
import { createPageBodies } from './pageBodies.ts';

/** What is read before a page is rendered. */
export interface PageRead {
  /** Bodies by path; null if a body could not be read. */
  readonly bodies: ReadonlyMap<string, unknown>;
  /** As of before they were read. */
  readonly news: unknown;
}

export type ExplorerPage =
  /** A redirection, or the kept page if its figures are current. */
  | { readonly current: PreparedResponse }
  /** It must be rendered, which costs as much as an expensive request. */
  | {
      readonly current: null;
      /** Paths of the routes that it reads. */
      readonly paths: readonly string[];
      render(read: PageRead): PreparedResponse | HttpError;
    };

/** A response that is kept for a while. */
interface KeptResponse {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** When it is wrong even if nothing happens, in epoch milliseconds. */
  readonly expiresAtMs: number;
}

interface SharedResponse extends KeptResponse, Pick<PageRead, 'news'> {
  readonly keptAtMs: number;
}

/** A response is kept for this long, in milliseconds: each costs as much to render as hundreds of answers. Events end that at once. */
export const sharedMs = 2_500;

interface LastKnown {
  readonly value: unknown;
  readonly atMs: number;
  /** Not counted: it is held by its view or its cache for most of the time. */
  readonly bytes: 0;
}

export type PageReads = ReturnType<typeof createPageReads>;

/**
 * Reads the bodies from which pages and files are made, and keeps responses that many ask for.
 *
 * @param hasViews false until state is restored. Until then there are no figures.
 */
export function createPageReads(sources: RouteSources, hasViews: () => boolean, clock: Clock) {
  const bodies = createPageBodies(sources, hasViews);
  const kept = createPageCache<SharedResponse>();
  /** Bodies that pages have shown, by path, for as long as they cannot be read again. */
  const lastKnown = createPageCache<LastKnown>();

  function isCurrent({ expiresAtMs, keptAtMs, news }: SharedResponse): boolean {
    if (clock.nowMs() >= expiresAtMs || news !== bodies.news()) return false;
    return clock.monotonicMs() - keptAtMs < sharedMs;
  }

  /** Reads bodies that were read before, or else from memory. */
  const createReader =
    ({ bodies: known }: PageRead) =>
    (path: string) =>
      known.has(path) ? (known.get(path) ?? null) : bodies.read(path);

  /** The same for a page, which shows what was known last of what cannot be read at the moment, with its date. */
  function createPageReader(known: PageRead) {
    const read = createReader(known);
    const old = new Map<string, number>();
    const recall = (path: string): unknown => {
      const value = read(path);
      const remembered =
        value === null ? lastKnown.get(path) : { value, atMs: clock.nowMs(), bytes: 0 as const };
      if (remembered === undefined) return null;
      lastKnown.set(path, remembered);
      if (value !== null) return value;
      old.set(path, remembered.atMs);
      // A path belongs to one type.
      return path === statusPath ? withoutPresent(remembered.value as Bodies['status']) : remembered.value;
    };
    return { old, read: toReadBody(recall), following: bodies.following() };
  }

  return {
    findCurrent: (key: string): PreparedResponse | null => {
      const existing = kept.get(key);
      return existing !== undefined && isCurrent(existing) ? existing.response : null;
    },
    keep: (key: string, response: KeptResponse, { news }: PageRead) =>
      kept.set(key, { ...response, keptAtMs: clock.monotonicMs(), news }),
    news: bodies.news,
    following: bodies.following,
    readLater: bodies.readLater,
    createReader: (known: PageRead) => toReadBody(createReader(known)),
    createPageReader,
    /** The records that exist now. */
    findKnown: () => readKnown(bodies.views(), clock.nowMs()),
  };
}

/** Nobody knows the wheel’s present if its state cannot be read. */
function withoutPresent(status: Bodies['status']): Bodies['status'] {
  const { measurement } = status;
  return { ...status, measurement: measurement && { ...measurement, freshness: 'stale' } };
}

/** Paths of the routes that a page must read, because no view says whether their bodies are current, or memory may not hold all of them. */
export function listReadPaths(place: Place): string[] {
  if ('id' in place) {
    const path = recordPath(place.view, place.id);
    return place.view === 'miner' ? [path, metadataPath(place.id)] : [path];
  }
  switch (place.view) {
    case 'glance':
      return place.owner === undefined ? [] : [listOwnerPaths(place.owner).positions];
    case 'owners':
      return place.address === null ? [] : Object.values(listOwnerPaths(place.address, place.earlier));
    case 'feed':
      return [eventsPath(place.category, place.earlier?.cursor)];
    default:
      return [];
  }
}

/** Bounds of the cached pages, and of their bytes before compression. Beyond them the page that was rendered first is evicted. */
export const cachedPagesMax = 64;
export const cachedPagesBytesMax = 4 * 1024 * 1024;

/** Rendered pages by place, in a bounded amount of memory. */
export function createPageCache<Page extends { readonly bytes: number }>() {
  const pages = new Map<string, Page>();
  let bytes = 0;

  function remove(place: string) {
    bytes -= pages.get(place)?.bytes ?? 0;
    pages.delete(place);
  }

  return {
    get: (place: string): Page | undefined => pages.get(place),
    set: (place: string, page: Page) => {
      remove(place);
      pages.set(place, page);
      bytes += page.bytes;
      for (const oldest of pages.keys()) {
        if (pages.size <= cachedPagesMax && bytes <= cachedPagesBytesMax) break;
        remove(oldest);
      }
    },
  };
}
