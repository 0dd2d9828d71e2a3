import { memoizeByIdentity } from '../../../actors/memoizeByIdentity.ts';
import type { Route, RouteSources, ViewRoute } from '../../routes/route.ts';
import { routes } from '../../routes/routes.ts';
import { createBodyCheck } from '../answers/checkedBody.ts';

/** What pages show: bodies of routes as they would be sent, by their paths. */
interface PageBodies {
  /** The view that a route shows at the moment, to be compared with the one that it showed; null where it shows none, or none of its own. */
  findView(path: string): object | null;
  /** A body from memory; null where the route answers with an error, or only after a read of the database. */
  read(path: string): unknown;
  readLater(path: string, signal: AbortSignal): unknown;
}

/** A route as a path asks for it. */
interface Target {
  readonly route: Route;
  readonly pathValue: string;
  readonly query: URLSearchParams;
}

/**
 * A body that its schema refuses is not shown, as it is not sent: the route itself says so in the log, once it is asked.
 *
 * @param hasViews false until folded state was restored: until then there are no bodies.
 */
export function createPageBodies(sources: RouteSources, hasViews: () => boolean): PageBodies {
  const findCheck = memoizeByIdentity((route: Route) => createBodyCheck(route.response));

  /** Null for anything that fails. */
  function attempt<Value>(read: () => Value): Value | null {
    try {
      return read();
    } catch {
      return null;
    }
  }

  function check(route: Route, body: unknown): unknown {
    if (body !== null) findCheck(route)(body);
    return body;
  }

  function findViewOf(route: ViewRoute, { pathValue, query }: Target): object | null {
    if (route.refusal !== null && route.refusal(sources.views) !== null) return null;
    const selection = route.selection(query);
    return selection === null ? null : route.view(sources.views, pathValue, selection as never);
  }

  /** A promise where the database is read. */
  function readTarget(target: Target, signal: AbortSignal): unknown {
    const { route, pathValue, query } = target;
    if (route.kind === 'view') {
      const view = findViewOf(route, target);
      // The view is the one that this route has returned.
      return check(route, view === null ? null : route.body(view as never));
    }
    const takeBody = (result: Awaited<ReturnType<typeof route.read>>) =>
      check(route, 'error' in result ? null : result.body);
    const found = route.read(sources, { pathValue, query, signal });
    return found instanceof Promise ? found.then(takeBody).catch(() => null) : takeBody(found);
  }

  function readLater(path: string, signal: AbortSignal): unknown {
    const target = findTarget(path);
    return hasViews() && target !== null ? attempt(() => readTarget(target, signal)) : null;
  }

  return {
    findView: (path) => {
      const target = findTarget(path);
      if (!hasViews() || target?.route.kind !== 'view') return null;
      const { route } = target;
      return attempt(() => findViewOf(route, target));
    },
    read: (path) => {
      const reading = new AbortController();
      const body = readLater(path, reading.signal);
      if (!(body instanceof Promise)) return body;
      // Nobody waits for it: this page is rendered from what memory holds.
      reading.abort();
      return null;
    },
    readLater,
  };
}

function findTarget(path: string): Target | null {
  const [pathname = '', query = ''] = path.split('?');
  for (const route of routes) {
    const value = matchPath(route.path, pathname);
    const pathValue =
      route.pathParameter === null || value === null ? value : route.pathParameter.parse(value);
    if (pathValue !== null) return { route, pathValue, query: new URLSearchParams(query) };
  }
  return null;
}

/** The value of the path's parameter, empty where it has none; null for another path. */
function matchPath(template: string, path: string): string | null {
  const [before = '', after] = template.split(/\{\w+\}/);
  if (after === undefined) return template === path ? '' : null;
  if (!path.startsWith(before) || !path.endsWith(after)) return null;
  const value = path.slice(before.length, path.length - after.length);
  return value === '' || value.includes('/') ? null : value;
}
