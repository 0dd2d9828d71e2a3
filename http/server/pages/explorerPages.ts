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

/** Bodies that are read before a page is rendered, by path; null if a body could not be read. */
type BodiesRead = ReadonlyMap<string, unknown>;

interface ExplorerPage {
  /** The cached page if its figures are current. Null if it must be rendered, which costs as much as an expensive request. */
  readonly current: PreparedResponse | null;
  read(signal: AbortSignal): ReadResult<BodiesRead> | Promise<ReadResult<BodiesRead>>;
  render(read: BodiesRead): PreparedResponse;
}

export interface ExplorerPages {
  find(path: string, query: string): ExplorerPage;
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

/** Paths of the pages in the router's syntax. Pages of owners read an owner's lists; the others show shared views. */
export const sharedPaths = ['/', '/statistics', '/settlements', '/feed'] as const;
export const ownerPaths = ['/owners', '/owners/:address'] as const;

/** Everything comes from this service. Pictures of tokens are SVG in data URIs; as images they run no script. */
const pageHeaders = buildPageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

interface CachedPage {
  readonly response: PreparedResponse;
  readonly bytes: number;
  /** The views that the page was rendered from, by path of their route. */
  readonly views: ReadonlyMap<string, object | null>;
}

/** Renders the explorer's pages from the same views as the routes (`http/explorer`). */
export function createExplorerPages(options: ExplorerPagesOptions): ExplorerPages {
  const { sources, hasViews, clock, transactionUrl, publicUrl } = options;
  // Read at the first request, since most processes never get one.
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
      isSingle: known.size > 0,
    });
    // The next request tries again to read what failed.
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

/** Writes an owner's address in lower case. All invalid addresses share one page, which does not repeat them. */
function toServedPlace(place: Place): Place {
  if (place.view !== 'owners' || place.address === null) return place;
  return { view: 'owners', address: parseOwner(place.address) ?? noAddress };
}

/** Paths of the routes that a page must read, because no view says whether their bodies are current. */
function listOwnerPaths(place: Place): string[] {
  if (place.view !== 'owners' || place.address === null || place.address === noAddress) return [];
  return [portfolioPath(place.address), activityPath(place.address)];
}
