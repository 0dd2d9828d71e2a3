import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../../actors/views/clock.ts';
import type { Readiness } from '../../actors/views/readiness.ts';
import { loadDocuments } from '../routes/documents.ts';
import type { Route, RouteSources } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';
import type { OnAnswered } from './answeredRequest.ts';
import { createClientAddress } from './clientAddress.ts';
import { createHttpError, type HttpError } from './errors.ts';
import { createEventStream, eventStreamType, isFeedEventId } from './eventStream.ts';
import { createExchangeGuard } from './exchangeGuard.ts';
import { createExplorerPages, ownerPaths, sharedPaths } from './explorerPages.ts';
import { createFailureLog } from './failureLog.ts';
import { createHttpMetrics } from './httpMetrics.ts';
import { type Listener, listenOn } from './listener.ts';
import { createLoadGuard } from './loadGuard.ts';
import { readMethod } from './method.ts';
import { createOriginCheck } from './origin.ts';
import { createPendingReads } from './pendingReads.ts';
import { jsonType } from './preparedResponse.ts';
import { createPreparedSender } from './preparedSender.ts';
import { createRateLimiter, type RateClass } from './rateLimiter.ts';
import { createReadAnswer } from './readAnswer.ts';
import { createRefusalCount } from './refusalCount.ts';
import { readRequestHeaders } from './requestHeaders.ts';
import { createRequestIds } from './requestId.ts';
import { createResponseWriter, type Exchange } from './responseWriter.ts';
import { retryAfterSeconds } from './routeAnswers.ts';
import { App, detectImplementation, transport as selectTransport } from './uws.ts';
import { createViewAnswer } from './viewAnswer.ts';

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
  /** Address of the pages as others open them, without a slash at its end; null: shared links have no preview image. */
  readonly publicUrl: string | null;
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
  /** Called with each answered request, for an access log or traces. */
  readonly onAnswered?: OnAnswered;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly settings: PublicServerSettings;
}

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
  const findClientAddress = createClientAddress(settings.trustedProxies, transport);
  const limiter = settings.rateLimits ? createRateLimiter() : null;
  const loadGuard = settings.rateLimits ? createLoadGuard(clock) : null;
  const refusals = createRefusalCount();
  const sender = createPreparedSender(writer);
  const exchangeGuard = createExchangeGuard(writer, createFailureLog(logger, clock));
  const reads = createPendingReads({
    writer,
    guard: exchangeGuard,
    metrics,
    loadGuard,
    timeoutMs: settings.readTimeoutMs,
    clock,
  });
  const parts = {
    sources,
    transport,
    writer,
    sender,
    guard: exchangeGuard,
    metrics,
    clock,
    reads,
  };
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
      const method = readMethod(request);
      const isRead = method === 'get' || method === 'head';
      const headers = readRequestHeaders(request, transport);
      const verdict = checkOrigin(headers.origin);
      const exchange: Exchange = {
        response,
        route: name,
        counts,
        seenAtMs: clock.monotonicMs(),
        isHead: method === 'head',
        headers,
        requestId: chooseRequestId(headers.requestId),
        traceparent: options.onAnswered === undefined ? '' : request.getHeader('traceparent'),
        approvedOrigin: verdict === 'approved' ? headers.origin : null,
        limit: null,
        isOfProxy: false,
        isAborted: false,
        isAnswered: false,
      };
      if (headers.isAmbiguous) return writer.closeConnection(exchange, '400 Bad Request');
      exchangeGuard.run(exchange, () => {
        // A browser asks whether a page may send a request to this origin.
        const isAskingPermission =
          verdict !== 'none' && method === 'options' && headers.preflightMethod !== '';
        const isOfContract = route !== null && isRead;
        const refusal =
          limit(exchange, isOfContract ? route.rateClass : 'other') ??
          (isAskingPermission ? null : findRefusal(request, isRead, route, verdict === 'refused'));
        if (refusal?.code === 'rate_limited' && !isWorthAnswering(exchange))
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
    const { address, isOfProxy } = findClientAddress(exchange.response, exchange.headers.forwardedFor);
    exchange.isOfProxy = isOfProxy;
    const verdict = limiter.take(address, rateClass, exchange.seenAtMs);
    exchange.limit = verdict;
    return verdict.waitSeconds === 0 ? null : createHttpError('rate_limited', verdict.waitSeconds);
  }

  /**
   * Beyond so many refusals in one turn of the event loop connections are closed, since an answer costs more than it takes to ask. So is one whose HEAD is
   * refused: answers without a body wait in memory for a client that does not read.
   */
  function isWorthAnswering({ isHead, isOfProxy }: Exchange): boolean {
    return isOfProxy || !(isHead || refusals.isFlooded());
  }

  /** Why a request is not passed to its route; null when it is. */
  function findRefusal(
    request: HttpRequest,
    isRead: boolean,
    route: Guarded | null,
    isOriginRefused: boolean,
  ): HttpError | null {
    if (!isRead) return createHttpError('not_found');
    if (isOriginRefused) return createHttpError('cors_origin_not_allowed');
    if (route === null) return null;
    if (route.query === 'none' && transport.query(request) !== '') return createHttpError('invalid_query');
    if (!route.canAnswerWithoutViews && !options.hasViews())
      return createHttpError('database_unavailable', retryAfterSeconds);
    return null;
  }

  for (const route of routes) {
    const pattern = route.path.replace(/\{(\w+)\}/, ':$1');
    const answer = route.kind === 'view' ? createViewAnswer(route, parts) : createReadAnswer(route, parts);
    app.any(pattern, handler(route.path, route, answer));
  }
  const events = createEventStream({
    feed: sources.views.feed,
    writer,
    registry: options.registry,
    isLimited: settings.rateLimits,
    loadGuard,
    ...(settings.heartbeatMs !== undefined && { heartbeatMs: settings.heartbeatMs }),
  });
  app.any(
    '/v1/events/stream',
    handler('/v1/events/stream', eventStreamGuard, (exchange, request) => {
      if (exchange.isHead) return writer.writeUncached(exchange, eventStreamType, Buffer.alloc(0));
      const { lastEventId, forwardedFor } = exchange.headers;
      const { address } = findClientAddress(exchange.response, forwardedFor);
      const query = new URLSearchParams(transport.query(request));
      const open = (resumeAfter: string) => {
        const refusal = events.open(exchange, { query, lastEventId: resumeAfter, address });
        if (refusal !== null) writer.writeError(exchange, refusal);
      };
      if (!isFeedEventId(lastEventId)) return open(lastEventId);
      reads.run(
        exchange,
        (signal) => events.locate(lastEventId, signal),
        ({ body }) => open(body),
      );
    }),
  );
  for (const { path, prepare } of loadDocuments(settings, clock))
    app.any(
      path,
      handler(path, null, (exchange) => sender.sendConditionally(exchange, prepare())),
    );
  const explorer = createExplorerPages({
    sources,
    hasViews: options.hasViews,
    clock,
    transactionUrl: settings.transactionUrl,
    publicUrl: settings.publicUrl,
  });
  function answerPage(exchange: Exchange, request: HttpRequest) {
    const page = explorer.find(transport.path(request), transport.query(request));
    const { current } = page;
    if (current !== null) return sender.sendConditionally(exchange, current);
    reads.run(exchange, page.read, ({ body }) => sender.sendConditionally(exchange, page.render(body)));
  }
  for (const path of sharedPaths) app.any(path, handler(path, null, answerPage));
  for (const path of ownerPaths) app.any(path, handler(path, ownerPageGuard, answerPage));
  app.any(
    '/explorer/:file',
    handler('/explorer/:file', null, (exchange, request) => {
      const file = explorer.file(request.getParameter(0) ?? '');
      if (file === null) writer.writeError(exchange, createHttpError('not_found'));
      else sender.sendConditionally(exchange, file);
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
      loadGuard?.stop();
      reads.abortAll();
      events.close();
    },
  });
}

/** What is checked before a handler runs: its rate class, whether it reads a query, and whether there are views. */
interface Guarded extends Pick<Route, 'rateClass' | 'query'> {
  readonly canAnswerWithoutViews?: true;
}

const eventStreamGuard: Guarded = { rateClass: 'publicHeavy', query: [] };
/** Lists of one owner, which few others ask for. */
const ownerPageGuard: Guarded = { rateClass: 'publicHeavy', query: 'ignored', canAnswerWithoutViews: true };
const aliveBody = Buffer.from('{"status":"alive"}');
const readyBody = Buffer.from('{"status":"ready"}');
