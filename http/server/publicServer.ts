import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../../actors/views/clock.ts';
import { memoizeByIdentity } from '../../actors/views/memoizeByIdentity.ts';
import type { Readiness } from '../../actors/views/readiness.ts';
import { loadDocuments } from '../routes/documents.ts';
import type { ReadRoute, Route, RouteSources, ViewRoute } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';
import type { OnAnswered } from './answeredRequest.ts';
import { createBodyCheck } from './checkedBody.ts';
import { createClientAddress } from './clientAddress.ts';
import { type ContentEncoding, createEncodingChoice } from './contentEncoding.ts';
import { createHttpError, type HttpError } from './errors.ts';
import { createEventStream, eventStreamType, isFeedEventId } from './eventStream.ts';
import { createExplorerPages, explorerPaths } from './explorerPages.ts';
import { createFailureLog } from './failureLog.ts';
import { createHttpMetrics } from './httpMetrics.ts';
import { matchesEtag } from './ifNoneMatch.ts';
import { type Listener, listenOn } from './listener.ts';
import { createLoadGuard } from './loadGuard.ts';
import { memoize } from './memoize.ts';
import { createOriginCheck } from './origin.ts';
import { createPendingReads, type ReadBody } from './pendingReads.ts';
import {
  jsonType,
  type PreparedResponse,
  prepareResponse,
  type ResponseHeaders,
} from './preparedResponse.ts';
import { createRateLimiter, type RateClass } from './rateLimiter.ts';
import { createRefusalCount } from './refusalCount.ts';
import { readRequestHeaders } from './requestHeaders.ts';
import { createRequestIds } from './requestId.ts';
import {
  createResponseWriter,
  type Exchange,
  isHeadMethod,
  isPreflight,
  isReadMethod,
} from './responseWriter.ts';
import { App, detectImplementation, transport as selectTransport } from './uws.ts';

export interface PublicServerSettings {
  /** Origins of websites whose pages may send requests, such as `https://example.org`. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and CIDR blocks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Of clients, and of expensive requests while the event loop is late. */
  readonly rateLimits: boolean;
  /** Other processes may listen on the same port; the system distributes the connections. */
  readonly isPortShared: boolean;
  /** A read that takes longer is answered 504. */
  readonly readTimeoutMs: number;
  /** Address of a transaction in a block explorer, without its hash, that pages link to; null: they show the hash. */
  readonly transactionUrl: string | null;
  /** Where to report a weakness; null: there is no `security.txt`. */
  readonly securityContact: string | null;
  /** Of quiet event streams, 15 seconds unless it is set. */
  readonly heartbeatMs?: number;
}

export interface PublicServerOptions {
  readonly sources: RouteSources;
  /** False until folded state was restored: until then there are no views, and routes answer 503. */
  readonly hasViews: () => boolean;
  readonly readiness: () => Readiness;
  /** Whether the process is about to end, so that connections are to be opened elsewhere; never, where it is left out. */
  readonly isLeaving?: () => boolean;
  /** Told of each answered request, for an access log or traces. */
  readonly onAnswered?: OnAnswered;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly settings: PublicServerSettings;
}

/** Seconds to wait while state is being restored, or the database is unavailable or busy. */
const retryAfterSeconds = 2;

/** The public routes over uWebSockets.js. */
export function createPublicServer(options: PublicServerOptions): Listener {
  const { sources, settings, clock, logger } = options;
  const implementation = detectImplementation();
  const transport = selectTransport();
  const metrics = createHttpMetrics(options.registry, implementation);
  const writer = createResponseWriter({
    transport,
    clock,
    isLeaving: options.isLeaving ?? (() => false),
    onAnswered: options.onAnswered ?? null,
  });
  const chooseRequestId = createRequestIds();
  const checkOrigin = createOriginCheck(settings.allowedOrigins);
  const chooseEncoding = createEncodingChoice();
  const findClientAddress = createClientAddress(settings.trustedProxies, transport);
  const limiter = settings.rateLimits ? createRateLimiter() : null;
  const failures = createFailureLog(logger, clock);
  const reads = createPendingReads({ metrics, timeoutMs: settings.readTimeoutMs, clock });
  const refusals = createRefusalCount();
  const guard = settings.rateLimits ? createLoadGuard(clock) : null;
  const app = App();

  /**
   * The one way from uWebSockets.js into this program: a handler that throws would end the process, and so would one that
   * returns without a response.
   */
  function handler(
    name: string,
    route: Guarded | null,
    answer: (exchange: Exchange, request: HttpRequest) => void,
  ) {
    const counts = metrics.route(name, route?.rateClass ?? 'other');
    return (response: HttpResponse, request: HttpRequest) => {
      const headers = readRequestHeaders(request, transport);
      const verdict = checkOrigin(headers.origin);
      const exchange: Exchange = {
        response,
        route: name,
        counts,
        seenAtMs: clock.monotonicMs(),
        isHead: isHeadMethod(request),
        headers,
        requestId: chooseRequestId(headers.requestId),
        traceparent: options.onAnswered === undefined ? '' : request.getHeader('traceparent'),
        approvedOrigin: verdict === 'approved' ? headers.origin : null,
        limit: null,
        isAborted: false,
        isAnswered: false,
      };
      if (headers.isAmbiguous) return writer.closeConnection(exchange, '400 Bad Request');
      runGuarded(exchange, () => {
        const isAskingPermission = verdict !== 'none' && isPreflight(request, headers);
        const isOfContract = route !== null && !isAskingPermission && isReadMethod(request);
        const refusal =
          limit(exchange, isOfContract ? route.rateClass : 'other') ??
          (isAskingPermission ? null : findRefusal(request, route, verdict === 'refused'));
        // Whoever goes on sending behind the first of them is not answered for each: that would cost more than it takes to ask.
        if (refusal?.code === 'rate_limited' && headers.forwardedFor === '' && refusals.isFlooded())
          return writer.closeConnection(exchange, refusal.status);
        if (refusal === null && isAskingPermission) return answerPreflight(exchange);
        if (refusal === null) answer(exchange, request);
        else writer.writeError(exchange, refusal);
      });
    };
  }

  function answerPreflight(exchange: Exchange) {
    if (exchange.approvedOrigin === null)
      writer.writeError(exchange, createHttpError('cors_origin_not_allowed'));
    else writer.writePreflight(exchange);
  }

  function limit(exchange: Exchange, rateClass: RateClass): HttpError | null {
    if (limiter === null) return null;
    const address = findClientAddress(exchange.response, exchange.headers.forwardedFor);
    const verdict = limiter.take(address, rateClass, exchange.seenAtMs);
    exchange.limit = verdict;
    return verdict.waitSeconds === 0 ? null : createHttpError('rate_limited', verdict.waitSeconds);
  }

  /** Why a request is not passed to its route; null when it is. */
  function findRefusal(
    request: HttpRequest,
    route: Guarded | null,
    isOriginRefused: boolean,
  ): HttpError | null {
    if (!isReadMethod(request)) return createHttpError('not_found');
    if (isOriginRefused) return createHttpError('cors_origin_not_allowed');
    if (route === null) return null;
    if (route.query === 'none' && transport.query(request) !== '') return createHttpError('invalid_query');
    if (!options.hasViews()) return createHttpError('database_unavailable', retryAfterSeconds);
    return null;
  }

  function runGuarded(exchange: Exchange, answer: () => void) {
    try {
      answer();
    } catch (error) {
      fail(exchange, error);
    }
  }

  function fail(exchange: Exchange, error: unknown) {
    noteFailure(error, exchange);
    if (exchange.isAborted) return;
    // A response that broke off in the middle cannot become another one.
    if (exchange.isAnswered) exchange.response.close();
    else writer.writeError(exchange, createHttpError('internal_error'));
  }

  function noteFailure(error: unknown, { route, requestId, counts }: Exchange) {
    counts.failed();
    failures.note(error, { route, requestId });
  }

  /** Serializes bodies that fit their schema; others throw InvalidBody. */
  function createPreparation(
    route: Route,
  ): (body: unknown, headers: Omit<ResponseHeaders, 'contentType'>) => PreparedResponse {
    const check = createBodyCheck(route.response);
    return (body, headers) => {
      check(body);
      metrics.prepared();
      return prepareResponse(body, headers);
    };
  }

  function parsePathValue(route: Route, request: HttpRequest): string | null {
    return route.pathParameter === null ? '' : route.pathParameter.parse(request.getParameter(0));
  }

  function answerView(route: ViewRoute) {
    const isQueryRead = typeof route.query !== 'string';
    const prepare = createPreparation(route);
    const prepareView = (view: object): PreparedResponse => {
      // Casts to `never`: what the functions of one entry take and return matches (`defineViewRoute`).
      const body = route.body(view as never);
      const { cacheControl, header } = route;
      const response = prepare(body, {
        tag: route.tag?.(body as never) ?? null,
        cacheControl,
        own: header === null ? [] : [[header.name, header.value(view as never)]],
      });
      const receivedAtMs = route.receivedAtMs?.(view as never) ?? null;
      if (receivedAtMs !== null) metrics.showed(receivedAtMs, clock.nowMs());
      return response;
    };
    /** The bytes of a view, or of the one that replaces a view that fails. */
    const attempt = (view: object): Attempt => {
      try {
        return { prepared: prepareView(view), failure: null };
      } catch (error) {
        return { prepared: prepareReplacement(view), failure: { error } };
      }
    };
    const prepareReplacement = (failed: object | null): PreparedResponse | null => {
      if (route.unavailable === null) return null;
      try {
        return prepareView(route.unavailable(sources.views, failed as never));
      } catch {
        return null; // The first error says why: both views have a part of the body in common.
      }
    };
    // A view is immutable: the same one means the same bytes.
    const prepareOnce = memoizeByIdentity(attempt);
    const parseSelection = memoize((query) => route.selection(new URLSearchParams(query)), queriesMax);
    const find = (pathValue: string, selection: string): Attempt => {
      let view: object;
      try {
        view = route.view(sources.views, pathValue, selection as never);
      } catch (error) {
        return { prepared: prepareReplacement(null), failure: { error } };
      }
      return prepareOnce(view);
    };
    return (exchange: Exchange, request: HttpRequest) => {
      const pathValue = parsePathValue(route, request);
      if (pathValue === null) return writer.writeError(exchange, createPathError(route));
      const selection = isQueryRead ? parseSelection(transport.query(request)) : '';
      if (selection === null) return writer.writeError(exchange, createHttpError('invalid_query'));
      const refused = route.refusal?.(sources.views) ?? null;
      if (refused !== null) return writer.writeError(exchange, createHttpError(refused, retryAfterSeconds));
      const { prepared, failure } = find(pathValue, selection);
      if (failure !== null) noteFailure(failure.error, exchange);
      if (prepared === null) return writer.writeError(exchange, createHttpError('internal_error'));
      if (route.isConditional) answerConditionally(exchange, prepared);
      else writer.writeOk(exchange, prepared.encoded(encodingFor(prepared, exchange)));
    };
  }

  function encodingFor({ isCompressible }: PreparedResponse, { headers }: Exchange): ContentEncoding {
    return isCompressible ? chooseEncoding(headers.acceptEncoding) : 'identity';
  }

  /** 304 where `If-None-Match` names the tag. */
  function answerConditionally(exchange: Exchange, prepared: PreparedResponse) {
    const encoding = encodingFor(prepared, exchange);
    const etag = prepared.etag(encoding);
    const encoded = prepared.encoded(encoding);
    if (etag !== null && exchange.headers.ifNoneMatch.some((line) => matchesEtag(line, etag)))
      writer.writeNotModified(exchange, encoded);
    else writer.writeOk(exchange, encoded);
  }

  function answerRead(route: ReadRoute) {
    const prepare = createPreparation(route);
    /** The body that replaces a read that fails; where the route has none, the error is thrown. */
    const replaceFailed = (error: unknown, exchange: Exchange): ReadBody => {
      if (route.unavailable === null) throw error;
      noteFailure(error, exchange);
      return { body: route.unavailable(sources.views) };
    };
    return (exchange: Exchange, request: HttpRequest) => {
      const pathValue = parsePathValue(route, request);
      if (pathValue === null) return writer.writeError(exchange, createPathError(route));
      if (guard?.isOverloaded()) {
        exchange.counts.shed();
        return writer.writeError(exchange, createHttpError('database_busy', retryAfterSeconds));
      }
      const query = new URLSearchParams(transport.query(request));
      const encoding = chooseEncoding(exchange.headers.acceptEncoding);
      const read = (signal: AbortSignal) => {
        try {
          return route.read(sources, { pathValue, query, signal });
        } catch (error) {
          return replaceFailed(error, exchange);
        }
      };
      const prepareFound = ({ body, cacheControl }: ReadBody) =>
        prepare(body, { tag: null, cacheControl: cacheControl ?? route.cacheControl, own: [] });
      const prepareChecked = (found: ReadBody): PreparedResponse => {
        try {
          return prepareFound(found);
        } catch (error) {
          return prepareFound(replaceFailed(error, exchange));
        }
      };
      const send = (found: ReadBody) => {
        const prepared = prepareChecked(found);
        writer.writeOk(exchange, prepared.encoded(prepared.isCompressible ? encoding : 'identity'));
      };
      reads.run(
        exchange,
        read,
        (found) => runGuarded(exchange, () => send(found)),
        (error) => runGuarded(exchange, () => writer.writeError(exchange, error)),
        (error) => fail(exchange, error),
      );
    };
  }

  for (const route of routes) {
    const pattern = route.path.replace(/\{(\w+)\}/, ':$1');
    const answer = route.kind === 'view' ? answerView(route) : answerRead(route);
    app.any(pattern, handler(route.path, route, answer));
  }
  const events = createEventStream({
    feed: sources.views.feed,
    writer,
    registry: options.registry,
    isLimited: settings.rateLimits,
    ...(settings.heartbeatMs !== undefined && { heartbeatMs: settings.heartbeatMs }),
  });
  app.any(
    '/v1/events/stream',
    handler('/v1/events/stream', eventStreamGuard, (exchange, request) => {
      if (exchange.isHead) return writer.writeUncached(exchange, eventStreamType, Buffer.alloc(0));
      const { lastEventId, forwardedFor } = exchange.headers;
      const address = findClientAddress(exchange.response, forwardedFor);
      const query = new URLSearchParams(transport.query(request));
      const open = (resumeAfter: string) => {
        const refusal = events.open(exchange, { query, lastEventId: resumeAfter, address });
        if (refusal !== null) writer.writeError(exchange, refusal);
      };
      if (!isFeedEventId(lastEventId)) return open(lastEventId);
      reads.run(
        exchange,
        (signal) => events.locate(lastEventId, signal),
        ({ body }) => runGuarded(exchange, () => open(body)),
        (error) => runGuarded(exchange, () => writer.writeError(exchange, error)),
        (error) => fail(exchange, error),
      );
    }),
  );
  for (const { path, prepare } of loadDocuments(settings, clock))
    app.any(
      path,
      handler(path, null, (exchange) => answerConditionally(exchange, prepare())),
    );
  const explorer = createExplorerPages({
    sources,
    hasViews: options.hasViews,
    clock,
    transactionUrl: settings.transactionUrl,
  });
  for (const path of explorerPaths) {
    app.any(
      path,
      handler(path, null, (exchange, request) => {
        answerConditionally(exchange, explorer.page(request.getUrl(), transport.query(request)));
      }),
    );
  }
  app.any(
    '/explorer/:file',
    handler('/explorer/:file', null, (exchange, request) => {
      const file = explorer.file(request.getParameter(0) ?? '');
      if (file === null) writer.writeError(exchange, createHttpError('not_found'));
      else answerConditionally(exchange, file);
    }),
  );
  app.any(
    '/healthz',
    handler('/healthz', null, (exchange) => writer.writeUncached(exchange, jsonType, aliveBody)),
  );
  app.any(
    '/readyz',
    handler('/readyz', null, (exchange) => {
      if (options.readiness().isReady) writer.writeUncached(exchange, jsonType, readyBody);
      else writer.writeError(exchange, createHttpError('database_unavailable', retryAfterSeconds));
    }),
  );
  app.any(
    '/*',
    handler('unknown', null, (exchange) => writer.writeError(exchange, createHttpError('not_found'))),
  );

  return listenOn(app, {
    isPortShared: settings.isPortShared,
    onClose: () => {
      guard?.stop();
      reads.abortAll();
      events.close();
    },
  });
}

/** The outcome for one view: `prepared` is null where the response is 500. */
interface Attempt {
  readonly prepared: PreparedResponse | null;
  readonly failure: { readonly error: unknown } | null;
}

function createPathError(route: Route): HttpError {
  return createHttpError(route.pathParameter?.error ?? 'not_found');
}

/** What is checked before a handler runs: its rate class, and whether it reads a query. */
type Guarded = Pick<Route, 'rateClass' | 'query'>;

const eventStreamGuard: Guarded = { rateClass: 'publicHeavy', query: [] };
const aliveBody = Buffer.from('{"status":"alive"}');
const readyBody = Buffer.from('{"status":"ready"}');
/** Different queries of a route whose parsed form is cached. */
const queriesMax = 256;
