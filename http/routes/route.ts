import type { z } from 'zod';
import type { ActorViews } from '../../actors/views/views.ts';
import type { ObservationReader } from '../../storage/observationReader.ts';
import type { ErrorCode } from './errors.ts';
import type { RateClass } from './rateClasses.ts';

export interface RouteSources {
  readonly views: ActorViews;
  readonly observations: ObservationReader;
}

/** A query parameter, for the documentation; its check is the route's own. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly isRequired?: boolean;
}

/** A path parameter: how a segment becomes a value, and the error when it does not. */
export interface PathParameter {
  readonly name: string;
  readonly schema: z.ZodType;
  /** Of the segment, percent-decoded. */
  readonly parse: (segment: string) => string | null;
  readonly error: ErrorCode;
}

export const topics = {
  wheel: 'What the wheel does now, and every reading that it sent: measured',
  statistics: 'What the wheel did: days, half hours, coverage, records',
  settlement: 'What waits for settlement, what would settle, and what is settled',
  rewards: 'What is issued, and what owners have, earned and did',
  events: 'What happened, as a feed to page through and as a stream',
} as const;
type Topic = keyof typeof topics;

interface RouteEntry {
  /** With `{name}` for a path parameter, as the contract writes it. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly topic: Topic;
  readonly rateClass: RateClass;
  readonly pathParameter: PathParameter | null;
  /** `none`: any parameter is refused; `ignored`: not read; else those that are read. */
  readonly query: 'none' | 'ignored' | readonly QueryParameter[];
  readonly cacheControl: string | null;
  /** Errors of this route, in addition to those that every route can answer. */
  readonly errors: readonly ErrorCode[];
  readonly response: z.ZodType;
}

/** Answered synchronously from a view; the bytes are prepared once per view, which its identity distinguishes. */
export interface ViewRoute extends RouteEntry {
  readonly kind: 'view';
  /** Why the route cannot answer at the moment, with `Retry-After: 2`; null when it can. */
  readonly refusal: ((views: ActorViews) => ErrorCode | null) | null;
  /** What a query selects, null for an invalid one; not called where the query is not read. */
  readonly selection: (query: URLSearchParams) => string | null;
  readonly view: (views: ActorViews, pathValue: string, selection: never) => object;
  readonly body: (view: never) => unknown;
  /** The tag without its quotes; null for none. */
  readonly tag: ((body: never) => string | null) | null;
  /** When the reading that it shows was received (epoch milliseconds); null for a route that is of something else. */
  readonly receivedAtMs: ((view: never) => number | null) | null;
  readonly header: ResponseHeader<never> | null;
  readonly isConditional: boolean;
  /** The `unavailable` view that replaces one with an invalid body, or one that cannot be computed; null: 500. */
  readonly unavailable: ((views: ActorViews, failed: never) => object) | null;
}

interface ResponseHeader<View> {
  readonly name: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly value: (view: View) => string;
}

/** The path value and query of a request, not parsed yet. */
interface ReadRequest {
  readonly pathValue: string;
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** The result of such a request: a body, or the code of an error. */
export type ReadResult<Body> =
  | { readonly error: ErrorCode }
  | { readonly body: Body; readonly cacheControl?: string };

/** Evaluated for every request: synchronously, or after a read of the database. */
export interface ReadRoute extends RouteEntry {
  readonly kind: 'read';
  readonly read: (
    sources: RouteSources,
    request: ReadRequest,
  ) => ReadResult<unknown> | Promise<ReadResult<unknown>>;
  /** The `unavailable` body that replaces an invalid one, or one of a read that fails; null: 500. */
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

/** A part of an entry as its author writes it: members with a default may be missing. */
type Written<Entry, Replaced> = Omit<Entry, 'kind' | keyof Replaced | keyof typeof viewDefaults> &
  Partial<Omit<Pick<Entry, keyof Entry & keyof typeof viewDefaults>, keyof Replaced>> &
  Replaced;

/**
 * An entry whose selection, view, body and response have matching types. The table does not keep them: there the parameters are `never`, and who
 * calls these functions passes what the entry's own ones have returned.
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
      readonly unavailable?: (views: ActorViews) => z.infer<Schema>;
    }
  >,
): ReadRoute {
  return { kind: 'read', ...defaults, ...route };
}

export function nameBody({ response }: Pick<Route, 'response'>): string {
  return response.meta()?.id ?? '';
}

export function findSchemaPath(name: string): string {
  return `/schemas/${name}.json`;
}
