import type { z } from 'zod';
import type { ActivityViews } from '../actors/views.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import type { ErrorCode } from './errors.ts';
import type { RateClass } from './rateLimiter.ts';

/** What the handlers of routes read. */
export interface RouteSources {
  readonly views: ActivityViews;
  readonly observations: ObservationReader;
}

/** A query parameter, for the documentation; its check is the route's own. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
}

/** A path parameter: how a segment becomes a value, and the error when it does not. */
export interface PathParameter {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly parse: (segment: string) => string | null;
  readonly error: ErrorCode;
}

interface RouteEntry {
  /** With `{name}` for a path parameter, as the contract writes it. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly rateClass: RateClass;
  readonly pathParameter: PathParameter | null;
  /** `none`: any parameter is refused; `ignored`: not read; else read by the route. */
  readonly query: 'none' | 'ignored' | readonly QueryParameter[];
  readonly cacheControl: string | null;
  /** Errors of this route beside those that every route can answer. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
}

/** Answered at once from a view; the bytes are prepared once for each view, known by its identity. */
export interface ViewRoute extends RouteEntry {
  readonly kind: 'view';
  readonly view: (views: ActivityViews, pathValue: string) => object;
  readonly body: (view: never) => unknown;
  /** The tag without its quotes; null for none. */
  readonly tag: ((body: never) => string | null) | null;
  /** Whether `If-None-Match` is evaluated. */
  readonly isConditional: boolean;
}

/** Answered from what may have to be read first. */
export interface ReadRoute extends RouteEntry {
  readonly kind: 'read';
  /** A body, a promise of one, or the code of an error. */
  readonly read: (
    sources: RouteSources,
    pathValue: string,
    query: URLSearchParams,
    signal: AbortSignal,
  ) => unknown | Promise<unknown> | { readonly error: ErrorCode };
}

export type Route = ViewRoute | ReadRoute;

/** An entry whose view, body and response fit one another; the table forgets their types. */
export function viewRoute<View extends object, Schema extends z.ZodType>(
  route: Omit<ViewRoute, 'kind' | 'view' | 'body' | 'tag' | 'response'> & {
    readonly response: Schema;
    readonly view: (views: ActivityViews, pathValue: string) => View;
    readonly body: (view: View) => z.infer<Schema>;
    readonly tag: ((body: z.infer<Schema>) => string | null) | null;
  },
): ViewRoute {
  return { kind: 'view', ...route };
}
