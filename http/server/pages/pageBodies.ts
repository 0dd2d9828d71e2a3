import { memoizeByIdentity } from '../../../actors/caching/memoizeByIdentity.ts';
import { encodeFeedPosition } from '../../../actors/feed/feedPosition.ts';
import type { ActorViews } from '../../../actors/views/actorViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { isPassing } from '../../routes/errors.ts';
import { parsePathValue, parseQuery } from '../../routes/parameters.ts';
import type { Parameters, ReadResult, Route, RouteSources, ViewRoute } from '../../routes/route.ts';
import { routes } from '../../routes/routes.ts';
import { memoize } from '../answers/memoize.ts';
import { createBodyCheck } from '../answers/routeAnswers.ts';

/** Paths whose route is remembered. Pages read the same few, and two of each owner. */
const pathsMax = 256;

type BodyRead = ReadResult<unknown>;
const unread: BodyRead = { body: null };

/** The route that a path names, with its arguments. */
interface Target {
  readonly route: Route;
  readonly pathValue: string;
  /** Null for an invalid query. */
  readonly parameters: Parameters | null;
}

/**
 * Bodies of routes for the pages, by path: as the routes would send them, or of the chain's last known state (`pageViews.ts`). A body that its schema refuses is not shown. The route logs the reason when a client requests it.
 *
 * @param hasViews false until state is restored. Until then there are no bodies.
 */
export function createPageBodies(routeSources: RouteSources, hasViews: () => boolean) {
  const sources = { ...routeSources, views: createPageViews(routeSources.views) };
  const findRoute = memoize(findTarget, pathsMax);
  const findCheck = memoizeByIdentity((route: Route) => createBodyCheck(route.response));

  /** @returns null if the read fails. */
  function attempt<Value>(read: () => Value): Value | null {
    try {
      return read();
    } catch {
      return null;
    }
  }

  function check(route: Route, body: unknown): unknown {
    findCheck(route)(body);
    return body;
  }

  /** Many pages show the same views. */
  const findBody = memoizeByIdentity((route: ViewRoute) =>
    memoizeByIdentity((view: object) => check(route, route.body(view))),
  );

  /** @returns a promise if the database is read. */
  function readTarget(target: Target, signal: AbortSignal): BodyRead | Promise<BodyRead> {
    const { route, pathValue, parameters } = target;
    if (route.kind === 'view') {
      const isRefused = parameters === null || (route.refusal?.(sources.views) ?? null) !== null;
      return isRefused ? unread : { body: findBody(route)(route.view(sources.views, pathValue, parameters)) };
    }
    if (parameters === null) return { error: 'invalid_query' };
    const takeBody = (result: BodyRead): BodyRead => {
      if (!('error' in result)) return { body: check(route, result.body) };
      // A page says which record is not known.
      if (result.error === 'not_found') return { body: { error: result.error } };
      return isPassing(result.error) ? unread : result;
    };
    const found = route.read(sources, { pathValue, parameters, signal });
    return found instanceof Promise ? found.then(takeBody).catch(() => unread) : takeBody(found);
  }

  /** A body, which is null if it cannot be read at the moment, or the error of an address; a promise if the route reads the database. */
  function readLater(path: string, signal: AbortSignal): BodyRead | Promise<BodyRead> {
    if (!hasViews()) return unread;
    const target = findRoute(path);
    return (target === null ? null : attempt(() => readTarget(target, signal))) ?? unread;
  }

  function nameNewest(): string | null {
    const end = sources.views.readFeedMoment().findEnd('all');
    return end && encodeFeedPosition(end);
  }

  return {
    /** How the chain is followed; null until state is restored. */
    following: () => (hasViews() ? sources.views.chain.following() : null),
    /** A value that is the same (`===`) until an event has happened; null while events cannot be read. */
    news: (): unknown => (hasViews() ? attempt(nameNewest) : null),
    /** A body from memory; null if the route answers with an error, or has to read the database. */
    read: (path: string): unknown => {
      const reading = new AbortController();
      const found = readLater(path, reading.signal);
      if (!(found instanceof Promise)) return 'error' in found ? null : found.body;
      // The page is rendered from memory alone, so nothing waits for the read.
      reading.abort();
      return null;
    },
    readLater,
    /** Null until state is restored. */
    views: (): ActorViews | null => (hasViews() ? sources.views : null),
  };
}

/** Routes with the patterns of their paths. */
const patterns = routes.map((route) => {
  const pattern = route.path.replaceAll('.', '\\.').replace(/\{\w+\}/, '([^/]+)');
  return { route, pattern: new RegExp(`^${pattern}$`) };
});

function findTarget(path: string): Target | null {
  const [pathname = '', query = ''] = path.split('?');
  for (const { route, pattern } of patterns) {
    const match = pattern.exec(pathname);
    if (match === null) continue;
    const pathValue = parsePathValue(route, match[1] ?? '');
    if (pathValue !== null) return { route, pathValue, parameters: parseQuery(route, query) };
  }
  return null;
}

/** The views that pages show: of the chain's last known state while it cannot be read. Such a page has a banner with its date. */
function createPageViews(views: ActorViews): ActorViews {
  const { chain, feed, lastKnownFeed } = views;
  type ReadView = (...request: unknown[]) => object;
  const lastKnown = Object.entries(chain.lastKnown).map(([name, readLastKnown]) => {
    const [read, readKnown] = [
      chain[name as keyof typeof chain.lastKnown] as ReadView,
      readLastKnown as ReadView,
    ];
    return [name, (...request: unknown[]) => choose(read(...request), () => readKnown(...request))] as const;
  });
  const replaced: Pick<ActorViews, 'chain' | 'feed'> = {
    chain: { ...chain, ...Object.fromEntries(lastKnown) },
    feed: {
      ...feed,
      page: (request, signal) =>
        (chain.economy().status === 'available' ? feed : lastKnownFeed).page(request, signal),
    },
  };
  // Other views are read from the original, whose statistics change.
  return Object.assign(Object.create(views), replaced);
}

/** The current view, or else the last known one. Without either, the current view has the reason. */
function choose<View extends object>(current: View, readLastKnown: () => View): View {
  if (!isUnavailable(current)) return current;
  const known = readLastKnown();
  return isUnavailable(known) ? current : known;
}

function isUnavailable(view: object): view is ChainUnavailable {
  return 'status' in view && view.status === 'unavailable';
}
