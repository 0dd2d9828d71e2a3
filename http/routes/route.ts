import type { z } from 'zod';
import type { ObservationReader } from '../../actors/older/observationReader.ts';
import type { ActorViews } from '../../actors/views/views.ts';
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
export interface PathParameter {
  readonly name: string;
  readonly schema: z.ZodType;
  /** @param segment percent-decoded. @returns null if the segment is invalid. */
  readonly parse: (segment: string) => string | null;
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

/** A route that is answered synchronously from a view. The bytes are prepared once for each view object. */
export interface ViewRoute extends RouteEntry {
  readonly kind: 'view';
  /** Why the route cannot answer at the moment, with `Retry-After: 2`; null if it can. */
  readonly refusal: ((views: ActorViews) => ErrorCode | null) | null;
  /** The selection of a query, null for an invalid query. Not called if the query is not read. */
  readonly selection: (query: URLSearchParams) => string | null;
  readonly view: (views: ActorViews, pathValue: string, selection: never) => object;
  readonly body: (view: never) => unknown;
  /** The tag without quotes, or null. */
  readonly tag: ((body: never) => string | null) | null;
  /** When the reading of the view was received, in epoch milliseconds; null for routes without a reading. */
  readonly receivedAtMs: ((view: never) => number | null) | null;
  readonly header: ResponseHeader<never> | null;
  readonly isConditional: boolean;
  /** The `unavailable` view that replaces a view which fails or has an invalid body. Null: the answer is 500. */
  readonly unavailable: ((views: ActorViews, failed: never) => object) | null;
}

interface ResponseHeader<View> {
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly value: (view: View) => string;
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

const defaults = { pathParameter: null, cacheControl: null, errors: [], unavailable: null };
const viewDefaults = {
  ...defaults,
  tag: null,
  isConditional: false,
  receivedAtMs: null,
  header: null,
  refusal: null,
  selection: () => '',
};

/** An entry as its author writes it: members with a default may be missing. */
type Written<Entry, Replaced> = Omit<Entry, 'kind' | keyof Replaced | keyof typeof viewDefaults> &
  Partial<Omit<Pick<Entry, keyof Entry & keyof typeof viewDefaults>, keyof Replaced>> &
  Replaced;

/**
 * Defines an entry whose selection, view, body and response have matching types. The table cannot keep these types, so its functions
 * take `never`. Callers pass only values that the same entry's functions returned.
 */
export function defineViewRoute<
  View extends object,
  Schema extends z.ZodType,
  Selection extends string = string,
>(
  route: Written<
    ViewRoute,
    {
      readonly response: Schema;
      readonly view: (views: ActorViews, pathValue: string, selection: Selection) => View;
      readonly body: (view: View) => z.infer<Schema>;
      readonly tag?: (body: z.infer<Schema>) => string | null;
      readonly receivedAtMs?: (view: View) => number | null;
      readonly header?: ResponseHeader<View>;
      readonly selection?: (query: URLSearchParams) => Selection | null;
      readonly unavailable?: (views: ActorViews, failed: View | null) => View;
    }
  >,
): ViewRoute {
  return { kind: 'view', ...viewDefaults, ...route };
}

export function defineReadRoute<Schema extends z.ZodType>(
  route: Written<
    ReadRoute,
    {
      readonly response: Schema;
      readonly read: (
        sources: RouteSources,
        request: ReadRequest,
      ) => ReadResult<z.infer<Schema>> | Promise<ReadResult<z.infer<Schema>>>;
      readonly inputs?: (views: ActorViews) => readonly unknown[];
      readonly unavailable?: (views: ActorViews) => z.infer<Schema>;
    }
  >,
): ReadRoute {
  return { kind: 'read', ...defaults, inputs: null, ...route };
}

export function nameBody({ response }: Pick<Route, 'response'>): string {
  return response.meta()?.id ?? '';
}

export function findSchemaPath(name: string): string {
  return `/schemas/${name}.json`;
}

/** A segment with a wrong encoding is returned unchanged; every parameter refuses it, since none allows a percent sign. */
export function decodePercent(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
