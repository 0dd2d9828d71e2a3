import type { z } from 'zod';
import type { ObservationReader } from '../../actors/pages/olderRows.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import type { PathSegment } from '../addresses/recordPaths.ts';
import type { ErrorCode } from './errors.ts';
import type { RateClass } from './rateClasses.ts';

export interface RouteSources {
  readonly views: ActorViews;
  readonly observations: ObservationReader;
}

/** Documentation of a query parameter. The route itself checks it. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly isRequired?: boolean;
}

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

/** Steps from a request to the body of its view. */
export interface ViewSteps<View extends object, Body, Selection> {
  /** The selection of a query, null for an invalid query. A query that is not read is empty. */
  readonly select: (query: URLSearchParams) => Selection | null;
  readonly view: (views: ActorViews, pathValue: string, selection: Selection) => View;
  readonly body: (view: View) => Body;
  /** The tag without quotes, or null. */
  readonly tag: ((body: Body) => string | null) | null;
  /** When the reading of the view was received, in epoch milliseconds; null for routes without a reading. */
  readonly receivedAtMs: ((view: View) => number | null) | null;
  readonly header: (ResponseHeader & { readonly value: (view: View) => string }) | null;
  /** The `unavailable` view that replaces a view which fails or has an invalid body. Null: the answer is 500. */
  readonly unavailable: ((views: ActorViews, failed: View | null) => View) | null;
}

/** A route that is answered synchronously from a view. The bytes are prepared once for each view object. */
export interface ViewRoute extends RouteEntry {
  readonly kind: 'view';
  /** Why the route cannot answer at the moment, with `Retry-After: 2`; null if it can. */
  readonly refusal: ((views: ActorViews) => ErrorCode | null) | null;
  readonly isConditional: boolean;
  readonly isTagged: boolean;
  readonly header: ResponseHeader | null;
  /** Passes the steps on. Their types match, and the table of routes does not know them. */
  readonly use: <Result>(
    take: <View extends object, Body, Selection>(steps: ViewSteps<View, Body, Selection>) => Result,
  ) => Result;
}

/** The path value and query of a request, not parsed yet. */
export interface ReadRequest {
  readonly pathValue: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** A body, or the code of an error. */
export type ReadResult<Body> =
  | { readonly error: ErrorCode }
  | { readonly body: Body; readonly cacheControl?: string };

/** A route that is evaluated for every request: synchronously, or after a read of the database. */
export interface ReadRoute extends RouteEntry {
  readonly kind: 'read';
  readonly read: (
    sources: RouteSources,
    request: ReadRequest,
  ) => ReadResult<unknown> | Promise<ReadResult<unknown>>;
  /**
   * The values behind an answer from memory. While each is the same (`===`), the same request gets the same bytes. Null if every request
   * is read.
   */
  readonly inputs: ((views: ActorViews) => readonly unknown[]) | null;
  /** The `unavailable` body that replaces an invalid body or a failed read. Null: the answer is 500. */
  readonly unavailable: ((views: ActorViews) => unknown) | null;
}

export type Route = ViewRoute | ReadRoute;

const defaults = { pathParameter: null, cacheControl: null, errors: [] };

/** An entry as its author writes it: members with a default may be missing. */
type WrittenEntry<Schema extends z.ZodType> = Omit<RouteEntry, keyof typeof defaults | 'response'> &
  Partial<Pick<RouteEntry, keyof typeof defaults>> & { readonly response: Schema };

type WrittenViewRoute<View extends object, Schema extends z.ZodType> = WrittenEntry<Schema> &
  Partial<Pick<ViewRoute, 'refusal' | 'isConditional'>> &
  Pick<ViewSteps<View, z.infer<Schema>, unknown>, 'body'> &
  Partial<Omit<ViewSteps<View, z.infer<Schema>, unknown>, 'select' | 'view' | 'body'>>;

/** Defines an entry that is answered from a view, without a selection. */
export function defineViewRoute<View extends object, Schema extends z.ZodType>(
  route: WrittenViewRoute<View, Schema> & {
    readonly view: (views: ActorViews, pathValue: string) => View;
  },
): ViewRoute {
  return defineSelectedRoute({ ...route, select: () => '' });
}

/** Defines an entry whose query selects a view. */
export function defineSelectedRoute<View extends object, Schema extends z.ZodType, Selection>(
  route: WrittenViewRoute<View, Schema> &
    Pick<ViewSteps<View, z.infer<Schema>, Selection>, 'select' | 'view'>,
): ViewRoute {
  const { select, view, body, tag = null, receivedAtMs = null, unavailable = null, ...entry } = route;
  const { header = null, refusal = null, isConditional = false } = entry;
  return {
    ...defaults,
    ...entry,
    kind: 'view',
    refusal,
    isConditional,
    isTagged: tag !== null,
    header,
    use: (take) => take({ select, view, body, tag, receivedAtMs, header, unavailable }),
  };
}

export function defineReadRoute<Schema extends z.ZodType>(
  route: WrittenEntry<Schema> & {
    readonly read: (
      sources: RouteSources,
      request: ReadRequest,
    ) => ReadResult<z.infer<Schema>> | Promise<ReadResult<z.infer<Schema>>>;
    readonly inputs?: (views: ActorViews) => readonly unknown[];
    readonly unavailable?: (views: ActorViews) => z.infer<Schema>;
  },
): ReadRoute {
  return { ...defaults, kind: 'read', inputs: null, unavailable: null, ...route };
}

export function nameBody({ response }: Pick<Route, 'response'>): string {
  return response.meta()?.id ?? '';
}

export function findSchemaPath(name: string): string {
  return `/schemas/${name}.json`;
}
