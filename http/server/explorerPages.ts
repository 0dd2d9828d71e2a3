import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import type { Clock } from '../../actors/views/clock.ts';
import { memoizeByIdentity } from '../../actors/views/memoizeByIdentity.ts';
import type { RenderPage } from '../explorer/page.ts';
import { formatPlace, parsePlace } from '../explorer/place.ts';
import type { ReadRoute, Route, RouteSources, ViewRoute } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';
import { findBuiltFolder } from './builtFolder.ts';
import { revalidated } from './cacheControl.ts';
import { createBodyCheck } from './checkedBody.ts';
import { buildPageHeaders } from './pageHeaders.ts';
import { type PreparedResponse, prepareDocument } from './preparedResponse.ts';

export interface ExplorerPages {
  /** A page with the current figures: rendered again when one of the views that it shows is another one. */
  page(path: string, query: string): PreparedResponse;
  /** A file that pages refer to; null where there is none of this name. */
  file(name: string): PreparedResponse | null;
}

export interface ExplorerPagesOptions {
  readonly sources: RouteSources;
  /** False until folded state was restored: until then pages have no figures. */
  readonly hasViews: () => boolean;
  readonly clock: Clock;
  /** Address of a transaction in a block explorer, without its hash; null where none is configured. */
  readonly transactionUrl: string | null;
  /** Address of the pages as others open them, without a slash at its end; null where it is not configured. */
  readonly publicUrl: string | null;
}

/** Paths of the pages, as the router takes them. */
export const explorerPaths = [
  '/',
  '/statistics',
  '/settlements',
  '/owners',
  '/owners/:address',
  '/feed',
] as const;

/** Everything comes from this service. Pictures of tokens are SVG in data URIs, which as images run no script. */
const pageHeaders = buildPageHeaders(
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);
const immutable = 'public, max-age=31536000, immutable';
const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};
/** Pages of different selections that are cached; beyond that the oldest one is rendered again at its next request. */
const cachedPagesMax = 64;

/** What a page was rendered from: the views of the routes that it read, by the routes' paths. */
interface CachedPage {
  readonly response: PreparedResponse;
  readonly inputs: ReadonlyMap<string, object | null>;
}

/** The explorer: the pages for people, rendered from the same views as the routes (`http/explorer`). */
export function createExplorerPages(options: ExplorerPagesOptions): ExplorerPages {
  const { sources, hasViews, clock, transactionUrl, publicUrl } = options;
  const loadBuild = once(readBuild);
  const cached = new Map<string, CachedPage>();
  const findCheck = memoizeByIdentity((route: Route) => createBodyCheck(route.response));

  /** The view that a route shows at the moment; null where it shows none. */
  function findInput(path: string): object | null {
    const [route, query] = findRoute(path);
    if (!hasViews() || route?.kind !== 'view') return null;
    if (route.refusal !== null && route.refusal(sources.views) !== null) return null;
    const selection = route.selection(query);
    try {
      return selection === null ? null : route.view(sources.views, '', selection as never);
    } catch {
      return null; // As below.
    }
  }

  /**
   * The body of a route as it would be sent; null where it answers with an error, or only after a read of the database. One that its schema
   * refuses is not shown, as it is not sent: the route itself says so in the log, once it is asked.
   */
  function readBody(path: string, input: object | null): unknown {
    const [route, query] = findRoute(path);
    if (!hasViews() || route === undefined) return null;
    try {
      const body = route.kind === 'view' ? readView(route, input) : readNow(route, query);
      if (body !== null) findCheck(route)(body);
      return body;
    } catch {
      return null;
    }
  }

  function readView(route: ViewRoute, input: object | null): unknown {
    // The view is the one that this route has returned.
    return input === null ? null : route.body(input as never);
  }

  function readNow(route: ReadRoute, query: URLSearchParams): unknown {
    const reading = new AbortController();
    const result = route.read(sources, { pathValue: '', query, signal: reading.signal });
    if (!(result instanceof Promise)) return 'error' in result ? null : result.body;
    // Nobody waits for it: a page is rendered from what memory holds.
    result.catch(() => undefined);
    reading.abort();
    return null;
  }

  function render(path: string, query: string): CachedPage {
    const { renderPage, files } = loadBuild();
    const inputs = new Map<string, object | null>();
    const html = renderPage({
      path,
      query,
      nowMs: clock.nowMs(),
      settings: { transactionUrl, publicUrl, files },
      read: (route) => {
        const input = findInput(route);
        inputs.set(route, input);
        return readBody(route, input);
      },
    });
    const response = prepareDocument(Buffer.from(html), {
      contentType: 'text/html; charset=utf-8',
      cacheControl: revalidated,
      own: pageHeaders,
    });
    return { response, inputs };
  }

  return {
    page: (path, query) => {
      // Parameters that pages do not know make no further pages.
      const key = formatPlace(parsePlace(path, query));
      const existing = cached.get(key);
      const isCurrent =
        existing !== undefined && [...existing.inputs].every(([route, input]) => input === findInput(route));
      if (isCurrent) return existing.response;
      const page = render(path, query);
      cached.delete(key);
      cached.set(key, page);
      const [oldest] = cached.keys();
      if (cached.size > cachedPagesMax && oldest !== undefined) cached.delete(oldest);
      return page.response;
    },
    file: (name) => loadBuild().responses.get(name) ?? null,
  };
}

function findRoute(path: string): [route: Route | undefined, query: URLSearchParams] {
  const [pathname = '', query = ''] = path.split('?');
  return [routes.find((one) => one.path === pathname), new URLSearchParams(query)];
}

interface Build {
  readonly renderPage: RenderPage;
  /** Paths by plain name: `explorer.js` is `/explorer/explorer.<hash>.js`. */
  readonly files: Readonly<Record<string, string>>;
  /** Responses by the name in the path. */
  readonly responses: ReadonlyMap<string, PreparedResponse>;
}

/** What the build has made of `http/explorer`, read at the first request for it: most processes are never asked. */
function readBuild(): Build {
  const folder = findBuiltFolder('explorer', 'public/names.json');
  const names: string[] = JSON.parse(readFileSync(join(folder, 'public/names.json'), 'utf8'));
  const responses = names.map((name): [string, PreparedResponse] => {
    const contentType = contentTypes[extname(name)] ?? 'application/octet-stream';
    const bytes = readFileSync(join(folder, 'public', name));
    return [name, prepareDocument(bytes, { contentType, cacheControl: immutable, own: [] })];
  });
  // Built from `http/explorer/renderPage.tsx`, which is checked to export this.
  const { renderPage } = createRequire(import.meta.url)(join(folder, 'renderPage.cjs')) as {
    renderPage: RenderPage;
  };
  const files = Object.fromEntries(
    names.map((name) => [name.replace(/\.[^.]+(?=\.[^.]+$)/, ''), `/explorer/${name}`]),
  );
  return { renderPage, files, responses: new Map(responses) };
}

function once<Value extends object>(build: () => Value): () => Value {
  let built: Value | null = null;
  return () => {
    built ??= build();
    return built;
  };
}
