import type { HttpRequest } from 'uWebSockets.js';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Clock } from '../../actors/clock.ts';
import type { Readiness } from '../../actors/views/views.ts';
import { noStore } from '../routes/cacheControl.ts';
import { createHttpError } from '../routes/errors.ts';
import { parsePathValue } from '../routes/parameters.ts';
import type { RouteSources } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';
import { createExchangeGuard } from './answers/exchangeGuard.ts';
import { createHttpMetrics } from './answers/httpMetrics.ts';
import { createPendingReads, createTurns } from './answers/pendingReads.ts';
import { prepareResponse } from './answers/preparedResponse.ts';
import { createReadAnswer, type ReadAnswerDependencies } from './answers/readAnswer.ts';
import { createResponseWriter, type Exchange, type ResponseWriter } from './answers/responseWriter.ts';
import { retryAfterSeconds } from './answers/routeAnswers.ts';
import { createViewAnswer } from './answers/viewAnswer.ts';
import { type Listener, listenOn } from './engine/listener.ts';
import { App, detectImplementation, selectTransport } from './engine/uws.ts';
import { createEventStream, eventStreamPath } from './events/eventStream.ts';
import { parseStreamRequest } from './events/streamForm.ts';
import { createRateLimiter } from './limits/rateLimiter.ts';
import { createMount, type Mount } from './mount.ts';
import { heavyGuarded, isForPeople, mountExplorer } from './mountExplorer.ts';
import { loadDocuments } from './pages/documents.ts';
import { createErrorResponses } from './pages/errorResponses.ts';
import { createExplorerPages } from './pages/explorerPages.ts';
import { createPageReads } from './pages/pageReads.ts';
import { createRequestRefusals, type Guarded } from './requestRefusals.ts';
import { createClientAddress } from './requests/clientAddress.ts';
import { isOpenTo } from './requests/requestHeaders.ts';

export interface PublicServerSettings {
  /** Origins of websites whose pages may send requests, for example `https://example.org`. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and CIDR blocks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Whether the rates of clients are limited. */
  readonly rateLimits: boolean;
  /** Deadline of a read; then the answer is 504. */
  readonly readTimeoutMs: number;
  /** Base URL of transactions in a block explorer, to which the hash is appended. Null: pages show hashes without a link. */
  readonly transactionUrl: string | null;
  /** Public base URL of the pages, without a trailing slash. Null: shared links have no preview image. */
  readonly publicUrl: string | null;
  /** Where to report a weakness. Null: no `security.txt`. */
  readonly securityContact: string | null;
}

interface PublicServerOptions {
  readonly sources: RouteSources;
  /** False until state is restored. Until then there are no views, and routes answer 503. */
  readonly hasViews: () => boolean;
  readonly readiness: () => Readiness;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  readonly settings: PublicServerSettings;
}

export function createPublicServer(options: PublicServerOptions): Listener {
  const { sources, settings, hasViews, clock, logger, registry } = options;
  const transport = selectTransport();
  const metrics = createHttpMetrics(registry, detectImplementation());
  let isLeaving = false;
  const writer = createResponseWriter({
    transport,
    clock,
    isOpen: isOpenTo(settings.allowedOrigins),
    isLeaving: () => isLeaving,
    findError: createErrorResponses(settings.publicUrl),
  });
  const findClientAddress = createClientAddress(settings.trustedProxies, transport);
  const guard = createExchangeGuard(writer, logger, clock);
  const turns = createTurns(clock);
  const reads = createPendingReads({ writer, guard, registry, turns, timeoutMs: settings.readTimeoutMs });
  const limiter = settings.rateLimits ? createRateLimiter() : null;
  const refusals = createRequestRefusals({ transport, limiter, findClientAddress, hasViews });
  const app = App();
  const mount = createMount({
    app,
    transport,
    clock,
    writer,
    guard,
    metrics,
    refusals,
    allowedOrigins: settings.allowedOrigins,
    isForPeople,
  });
  mountRoutes(mount, { sources, transport, writer, guard, metrics, clock, reads });
  const events = createEventStream({
    readFeedMoment: sources.views.readFeedMoment,
    hasViews,
    transport,
    writer,
    registry,
    turns,
    clock,
    onRefused: (error) => {
      const counts = metrics.route(eventStreamPath, 'publicHeavy');
      guard.note({ route: eventStreamPath, requestId: '', counts }, error);
    },
  });
  mount(eventStreamPath, heavyGuarded, (exchange, request) => {
    const query = new URLSearchParams(transport.query(request));
    const wanted = parseStreamRequest(query, exchange.headers.lastEventId);
    const refusal = wanted === null ? createHttpError('invalid_query') : events.open(exchange, wanted);
    if (refusal !== null) writer.writeError(exchange, refusal);
  });
  for (const { path, isLarge, prepare } of loadDocuments(settings, clock))
    mount(path, isLarge ? heavyGuarded : null, (exchange) => writer.sendConditionally(exchange, prepare()));
  const { transactionUrl, publicUrl } = settings;
  const pageReads = createPageReads(sources, hasViews, clock);
  const pages = createExplorerPages({ reads: pageReads, clock, transactionUrl, publicUrl });
  mountHealth(mount, writer, options.readiness);
  mountExplorer(mount, { pages, pageReads, transport, writer, reads, refusals });
  return listenOn(app, {
    onLeave: () => {
      isLeaving = true;
    },
    onClose: () => {
      reads.abortAll();
      events.close();
    },
  });
}

function mountRoutes(mount: Mount, dependencies: ReadAnswerDependencies) {
  for (const route of routes) {
    const answer =
      route.kind === 'view' ? createViewAnswer(route, dependencies) : createReadAnswer(route, dependencies);
    const { pathParameter } = route;
    const answerPath = (exchange: Exchange, request: HttpRequest) => {
      if (pathParameter === null) return answer(exchange, request, '');
      const pathValue = parsePathValue(route, request.getParameter(0));
      if (pathValue === null) dependencies.writer.writeError(exchange, createHttpError(pathParameter.error));
      else answer(exchange, request, pathValue);
    };
    mount(route.path, route, answerPath, route.path.replace(/\{(\w+)\}/, ':$1'));
  }
}

const healthGuarded: Guarded = { rateClass: 'health', query: 'ignored', canAnswerWithoutViews: true };

function mountHealth(mount: Mount, writer: ResponseWriter, readiness: () => Readiness) {
  const prepare = (status: string) => prepareResponse({ status }, { cacheControl: noStore });
  const [alive, ready] = [prepare('alive'), prepare('ready')];
  mount('/healthz', healthGuarded, (exchange) => writer.send(exchange, alive));
  mount('/readyz', healthGuarded, (exchange) => {
    if (readiness().isReady) writer.send(exchange, ready);
    else writer.writeError(exchange, createHttpError('database_unavailable', retryAfterSeconds));
  });
}
