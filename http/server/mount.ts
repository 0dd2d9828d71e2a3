import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import type { Clock } from '../../actors/clock.ts';
import type { ExchangeGuard } from './answers/exchangeGuard.ts';
import type { HttpMetrics } from './answers/httpMetrics.ts';
import type { Exchange, ResponseWriter } from './answers/responseWriter.ts';
import type { Transport } from './engine/uws.ts';
import { type Guarded, type RequestRefusals, toChecks } from './requestRefusals.ts';
import { createOriginCheck, createRequestIds, readRequestHeaders } from './requests/requestHeaders.ts';

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

  return (name, guarded, answer, pattern = name) => {
    const rateClass = guarded?.rateClass ?? 'other';
    const counts = metrics.route(name, rateClass);
    const checks = guarded === null ? null : toChecks(guarded);
    const isForPeople = options.isForPeople(name);
    const isReadByPeople = (request: HttpRequest) =>
      isForPeople && (name !== unknownRoute || !apiPath.test(transport.path(request)));

    /** @param method in lower case. */
    function respond(response: HttpResponse, request: HttpRequest, method: string) {
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
          refusals.find(request, isAskingPermission ? null : checks, {
            isAllowed: isRead || isAskingPermission,
            isOriginRefused: verdict === 'refused',
          });
        if (refusal?.code === 'rate_limited' && !refusals.isWorthAnswering(exchange))
          return writer.closeConnection(exchange, refusal.status);
        if (refusal !== null) writer.writeError(exchange, refusal);
        else if (isAskingPermission) writer.writePreflight(exchange);
        else answer(exchange, request);
      } catch (error) {
        guard.fail(exchange, error);
      }
    }

    // GET has its own registration, since asking the addon for the method takes a twentieth of a request.
    app.get(pattern, (response, request) => respond(response, request, 'get'));
    // The fallback writes it in upper case.
    app.any(pattern, (response, request) => respond(response, request, request.getMethod().toLowerCase()));
  };
}
