import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Clock } from '../../actors/clock.ts';
import { createHttpError } from '../routes/errors.ts';
import type { ExchangeGuard } from './answers/exchangeGuard.ts';
import type { HttpMetrics } from './answers/httpMetrics.ts';
import type { Exchange, ResponseWriter } from './answers/responseWriter.ts';
import type { Transport } from './engine/uws.ts';
import { type Guarded, type RequestRefusals, toChecks } from './requestRefusals.ts';
import { type Method, readMethod } from './requests/method.ts';
import { createOriginCheck } from './requests/origin.ts';
import { readRequestHeaders } from './requests/requestHeaders.ts';
import { createRequestIds } from './requests/requestId.ts';

/** Name of the handler of paths that no route has, in metrics and logs. */
export const unknownRoute = 'unknown';

/** Paths below which programs read. */
const apiPath = /^\/v\d+(?:\/|$)/;

/**
 * Registers the handler of a pattern.
 *
 * @param name of the pattern in metrics and logs.
 * @param guarded null if only the rate is limited.
 * @param pattern the name, unless given.
 */
export type Mount = (
  name: string,
  guarded: Guarded | null,
  answer: (exchange: Exchange, request: HttpRequest) => void,
  pattern?: string,
) => void;

interface MountOptions {
  readonly app: TemplatedApp;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly writer: ResponseWriter;
  readonly guard: ExchangeGuard;
  readonly metrics: HttpMetrics;
  readonly refusals: RequestRefusals;
  readonly allowedOrigins: readonly string[];
  /** Whether a handler is for people, by its name. */
  readonly isForPeople: (name: string) => boolean;
}

/** Every request enters the program here. A handler of uWebSockets.js that throws, or returns without a response, would end the process. */
export function createMount(options: MountOptions): Mount {
  const { app, transport, clock, writer, guard, metrics, refusals } = options;
  const chooseRequestId = createRequestIds();
  const checkOrigin = createOriginCheck(options.allowedOrigins);

  function answerPreflight(exchange: Exchange) {
    if (exchange.approvedOrigin === null)
      writer.writeError(exchange, createHttpError('cors_origin_not_allowed'));
    else writer.writePreflight(exchange);
  }

  return (name, guarded, answer, pattern = name) => {
    const rateClass = guarded?.rateClass ?? 'other';
    const counts = metrics.route(name, rateClass);
    const checks = guarded === null ? null : toChecks(guarded);
    const isForPeople = options.isForPeople(name);
    const isReadByPeople = (request: HttpRequest) =>
      isForPeople && (name !== unknownRoute || !apiPath.test(transport.path(request)));

    function respond(response: HttpResponse, request: HttpRequest, method: Method) {
      const headers = readRequestHeaders(request, transport);
      const isRead = method === 'get' || method === 'head';
      const verdict = checkOrigin(headers.origin);
      const exchange: Exchange = {
        response,
        route: name,
        counts,
        seenAtMs: clock.monotonicMs(),
        isHead: method === 'head',
        isForPeople: isRead && isReadByPeople(request),
        headers,
        requestId: chooseRequestId(headers.requestId),
        approvedOrigin: verdict === 'approved' ? headers.origin : null,
        limit: null,
        client: null,
        isOfProxy: false,
        isAborted: false,
        isAnswered: false,
      };
      if (headers.isAmbiguous) return writer.closeConnection(exchange, '400 Bad Request');
      try {
        // A browser's preflight request.
        const isAskingPermission =
          verdict !== 'none' && method === 'options' && headers.preflightMethod !== '';
        const refusal =
          refusals.limit(exchange, isRead ? rateClass : 'other') ??
          (isAskingPermission
            ? null
            : refusals.find(request, checks, { isRead, isOriginRefused: verdict === 'refused' }));
        if (refusal?.code === 'rate_limited' && !refusals.isWorthAnswering(exchange))
          return writer.closeConnection(exchange, refusal.status);
        if (refusal === null && isAskingPermission) return answerPreflight(exchange);
        if (refusal === null) answer(exchange, request);
        else writer.writeError(exchange, refusal);
      } catch (error) {
        guard.fail(exchange, error);
      }
    }

    // GET has its own registration, since asking the addon for the method takes a twentieth of a request.
    app.get(pattern, (response, request) => respond(response, request, 'get'));
    app.any(pattern, (response, request) => respond(response, request, readMethod(request)));
  };
}
