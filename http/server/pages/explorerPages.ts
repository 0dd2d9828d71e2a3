import type { Clock } from '../../../actors/clock.ts';
import { formatPlace, noAddress, type Place, parsePlace } from '../../explorer/place.ts';
import { activityPath, portfolioPath } from '../../explorer/resources.ts';
import { revalidated } from '../../routes/cacheControl.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import type { ReadResult, RouteSources } from '../../routes/route.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import { readExplorerBuild } from './explorerBuild.ts';
import { once } from './once.ts';
import { createPageBodies } from './pageBodies.ts';
import { createPageCache } from './pageCache.ts';
import { buildPageHeaders } from './pageHeaders.ts';

/** Bodies that are read before a page is rendered, by the routes' paths; null for those that could not be read. */
type BodiesRead = ReadonlyMap<string, unknown>;

interface ExplorerPage {
  /** With the current figures; null where it would have to be rendered, which costs as much as an expensive request. */
  readonly current: PreparedResponse | null;
  read(signal: AbortSignal): ReadResult<BodiesRead> | Promise<ReadResult<BodiesRead>>;
  render(read: BodiesRead): PreparedResponse;
}

export interface ExplorerPages {
  find(path: string, query: string): ExplorerPage;
  /** A file that pages refer to; null where there is none of this name. */
  file(name: string): PreparedResponse | null;
}

interface ExplorerPagesOptions {
  readonly sources: RouteSources;
  /** False until folded state was restored: until then pages have no figures. */
  readonly hasViews: () => boolean;
  readonly clock: Clock;
  /** Address of a transaction in a block explorer, without its hash; null where none is configured. */
  readonly transactionUrl: string | null;
  /** Address of the pages as others open them, without a slash at its end; null where it is not configured. */
  readonly publicUrl: string | null;
}

/** Paths of the pages, as the router takes them: those of owners read lists of one owner, others what everybody shares. */
export const sharedPaths = ['/', '/statistics', '/settlements', '/feed'] as const;
export const ownerPaths = ['/owners', '/owners/:address'] as const;

/** Everything comes from this service. Pictures of tokens are SVG in data URIs, which as images run no script. */
const pageHeaders = buildPageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

interface CachedPage {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** What it was rendered from: the views of the routes that it read, by the routes' paths. */
  readonly views: ReadonlyMap<string, object | null>;
}

/** The explorer: the pages for people, rendered from the same views as the routes (`http/explorer`). */
export function createExplorerPages(options: ExplorerPagesOptions): ExplorerPages {
  const { sources, hasViews, clock, transactionUrl, publicUrl } = options;
  // At the first request for it: most processes are never asked.
  const loadBuild = once(readExplorerBuild);
  const bodies = createPageBodies(sources, hasViews);
  const cache = createPageCache<CachedPage>();

  function findCurrent(key: string): PreparedResponse | null {
    const existing = cache.get(key);
    const isCurrent =
      existing !== undefined && [...existing.views].every(([path, view]) => view === bodies.findView(path));
    return isCurrent ? existing.response : null;
  }

  function read(place: Place, signal: AbortSignal): ReturnType<ExplorerPage['read']> {
    const paths = listOwnerPaths(place);
    const found = paths.map((path) => bodies.readLater(path, signal));
    const collect = (known: readonly unknown[]) => ({
      body: new Map(paths.map((path, index) => [path, known[index]])),
    });
    return found.some((one) => one instanceof Promise) ? Promise.all(found).then(collect) : collect(found);
  }

  function render(place: Place, key: string, known: BodiesRead): PreparedResponse {
    const { renderPage, files } = loadBuild();
    const views = new Map<string, object | null>();
    const html = Buffer.from(
      renderPage({
        place,
        nowMs: clock.nowMs(),
        settings: { transactionUrl, publicUrl, files },
        read: (path) => {
          if (known.has(path)) return known.get(path);
          views.set(path, bodies.findView(path));
          return bodies.read(path);
        },
      }),
    );
    const response = prepareDocument(html, {
      contentType: 'text/html; charset=utf-8',
      cacheControl: revalidated,
      own: pageHeaders,
    });
    // What could not be read is asked for again by the next request.
    if (![...known.values()].includes(null)) cache.set(key, { response, bytes: html.length, views });
    return response;
  }

  return {
    find: (path, query) => {
      const place = toServedPlace(parsePlace(path, query));
      const key = formatPlace(place);
      return {
        current: findCurrent(key),
        read: (signal) => read(place, signal),
        render: (known) => render(place, key, known),
      };
    },
    file: (name) => loadBuild().responses.get(name) ?? null,
  };
}

/** Owners by their addresses in lower case, and one page for everything that is no address, which does not repeat it. */
function toServedPlace(place: Place): Place {
  if (place.view !== 'owners' || place.address === null) return place;
  return { view: 'owners', address: parseOwner(place.address) ?? noAddress };
}

/** Routes whose answers depend on more than the views that a page is compared by. */
function listOwnerPaths(place: Place): string[] {
  if (place.view !== 'owners' || place.address === null || place.address === noAddress) return [];
  return [portfolioPath(place.address), activityPath(place.address)];
}
