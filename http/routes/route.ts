import type { z } from 'zod';
import type { ObservationReader } from '../../actors/pages/olderRows.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { PathSegment } from '../addresses/recordPaths.ts';
import type { ErrorCode } from './errors.ts';
import type { RateClass } from './rateClasses.ts';

export interface RouteSources {
  readonly views: ActorViews;
  readonly observations: ObservationReader;
}

/** A query parameter: its documentation, and the check of its values. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly isRequired?: boolean;
  /** Whether the route checks the value itself, with another error or after the path. */
  readonly isOpaque?: boolean;
}

/** The parameters that a query has, by name. */
export type Parameters = ReadonlyMap<string, string>;

/** A path parameter: how its segment is parsed, and the error if that fails. */
export interface PathParameter extends PathSegment {
  readonly error: ErrorCode;
}

export const topics = {
  wheel: 'Measured: the newest state of the wheel, and every accepted reading',
  statistics: 'Statistics of the wheel: days, half hours, coverage, records',
  settlement: 'Settlement: waiting, projected and settled work',
  rewards: 'Issued rewards, and the positions, earnings and activity of owners',
  events: 'Events, as a feed with pages and as a stream',
} as const;
type Topic = keyof typeof topics;

interface RouteEntry {
  /** Path as in the contract, with `{name}` for a parameter. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly topic: Topic;
  readonly rateClass: RateClass;
  readonly pathParameter: PathParameter | null;
  /** `none` refuses any parameter, `ignored` does not read the query. */
  readonly query: 'none' | 'ignored' | readonly QueryParameter[];
  /** Whether unknown parameters are ignored, and the first value of a repeated one counts. */
  readonly isQueryLenient?: boolean;
  /** Null if the contract of the route has no cache policy. */
  readonly cacheControl: string | null;
  /** Errors in addition to the errors that every route can have. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
}

/** A header that a view decides. */
interface ResponseHeader {
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
}

/**
 * A route that is answered synchronously from a view. The bytes are prepared once for each view object. Its members are written as methods, so that
 * the table of routes need not know the types of views and bodies.
 */
export interface ViewRoute<View extends object = object, Body = unknown> extends RouteEntry {
  readonly kind: 'view';
  readonly isConditional?: boolean;
  readonly header?: ResponseHeader & { value(view: View): string };
  /** Why the route cannot answer at the moment, with `Retry-After: 2`; null if it can. */
  refusal?(views: ActorViews): ErrorCode | null;
  view(views: ActorViews, pathValue: string, parameters: Parameters): View;
  body(view: View): Body;
  /** The tag without quotes, or null. */
  tag?(body: Body): string | null;
  /** When the reading of the view was received, in epoch milliseconds. */
  receivedAtMs?(view: View): number | null;
  /** The `unavailable` view that replaces a view which fails or has an invalid body. Without it the answer is 500. */
  unavailable?(views: ActorViews, failed: View | null): View;
}

export interface ReadRequest {
  readonly pathValue: string;
  readonly parameters: Parameters;
  readonly signal: AbortSignal;
}

/** A body, or the code of an error. */
export type ReadResult<Body> =
  | { readonly error: ErrorCode }
  | { readonly body: Body; readonly cacheControl?: string };

/** A route whose body is read for a request, from memory or from the database. */
export interface ReadRoute<Body = unknown> extends RouteEntry {
  readonly kind: 'read';
  read(sources: RouteSources, request: ReadRequest): ReadResult<Body> | Promise<ReadResult<Body>>;
  /**
   * The values behind an answer. While each is the same (`===`), the same request gets the same bytes. Without them every request is read.
   */
  inputs?(views: ActorViews): readonly unknown[];
  /** The `unavailable` body that replaces an invalid body or a failed read. Without it the answer is 500. */
  unavailable?(views: ActorViews): Body;
}

export type Route = ViewRoute | ReadRoute;

const defaults = { pathParameter: null, cacheControl: null, errors: [] };

/** An entry as its author writes it: members with a default may be missing. */
type Written<Entry extends RouteEntry, Schema> = Omit<Entry, 'kind' | 'response' | keyof typeof defaults> &
  Partial<Pick<RouteEntry, keyof typeof defaults>> & { readonly response: Schema };

/** Defines a route: its path, query, schema, view and documentation. */
export function defineRoute<View extends object, Schema extends z.ZodType>(
  route: Written<ViewRoute<View, z.infer<Schema>>, Schema>,
): ViewRoute;
export function defineRoute<Schema extends z.ZodType>(
  route: Written<ReadRoute<z.infer<Schema>>, Schema>,
): ReadRoute;
export function defineRoute(route: Written<ViewRoute, z.ZodType> | Written<ReadRoute, z.ZodType>): Route {
  return 'read' in route ? { ...defaults, ...route, kind: 'read' } : { ...defaults, ...route, kind: 'view' };
}

export function nameBody({ response }: Pick<Route, 'response'>): string {
  return response.meta()?.id ?? '';
}

export function findSchemaPath(name: string): string {
  return `/schemas/${name}.json`;
}

/** The view of a chain route whose data cannot be shown (CONTRACT.md, Unavailable reasons). */
export function describeUnreadable({ chain, publicInstallationId }: ActorViews): ChainUnavailable {
  return {
    status: 'unavailable',
    installationId: publicInstallationId,
    reason: 'indexer_unavailable',
    release: chain.release,
  };
}
