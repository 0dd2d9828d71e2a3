import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError, type HttpError } from '../routes/errors.ts';
import type { RateClass } from '../routes/rateClasses.ts';
import type { Route } from '../routes/route.ts';
import type { Exchange } from './answers/responseWriter.ts';
import { retryAfterSeconds } from './answers/routeAnswers.ts';
import type { Transport } from './engine/uws.ts';
import type { RateLimiter } from './limits/rateLimiter.ts';
import type { FindClientAddress } from './requests/clientAddress.ts';

/** Checks before a request is answered: its rate class, whether it may have a query, and whether it needs views. */
export interface Guarded extends Pick<Route, 'rateClass' | 'query'> {
  readonly canAnswerWithoutViews?: true;
}

type RequestChecks = ReturnType<typeof toChecks>;

interface RequestVerdict {
  /** Whether its method is GET or HEAD, or OPTIONS for a preflight. */
  readonly isAllowed: boolean;
  readonly isOriginRefused: boolean;
}

/** The checks in one object shape for all routes. Route objects have many shapes, which makes every access at a request slow. */
export function toChecks({ query, canAnswerWithoutViews }: Guarded) {
  return { isQueryRefused: query === 'none', needsViews: canAnswerWithoutViews !== true };
}

/** Whether a query has a parameter; `?` and `?&` have none. */
function hasParameter(query: string): boolean {
  return query !== '' && new URLSearchParams(query).size > 0;
}

export type RequestRefusals = ReturnType<typeof createRequestRefusals>;

interface RequestRefusalsOptions {
  readonly transport: Transport;
  /** Null if clients are not limited. */
  readonly limiter: RateLimiter | null;
  readonly findClientAddress: FindClientAddress;
  /** False until state is restored. */
  readonly hasViews: () => boolean;
}

export function createRequestRefusals({
  transport,
  limiter,
  findClientAddress,
  hasViews,
}: RequestRefusalsOptions) {
  const refusals = createRefusalCount();
  return {
    /** Counts a client's request. @returns the refusal if the client has sent too many, else null. */
    limit: (exchange: Exchange, rateClass: RateClass): HttpError | null => {
      if (limiter === null) return null;
      const { address, isOfProxy } = findClientAddress(exchange.response, exchange.headers.forwardedFor);
      exchange.client = address;
      exchange.isOfProxy = isOfProxy;
      const verdict = limiter.take(address, rateClass, exchange.seenAtMs);
      exchange.limit = verdict;
      return verdict.waitSeconds === 0 ? null : createHttpError('rate_limited', verdict.waitSeconds);
    },
    /**
     * Whether a rate-limited request gets an answer instead of a closed connection. Not beyond a number of refusals in one turn of the
     * event loop, since an answer costs more than a request. Not for HEAD, whose answers wait in memory for a client that does not
     * read. Always on a trusted proxy's connection, which other clients share.
     */
    isWorthAnswering: ({ isHead, isOfProxy }: Exchange) => isOfProxy || !(isHead || refusals.isFlooded()),
    /** @returns the refusal, or null if the request passes all checks. */
    find: (
      request: HttpRequest,
      checks: RequestChecks | null,
      { isAllowed, isOriginRefused }: RequestVerdict,
    ): HttpError | null => {
      if (!isAllowed) return createHttpError('not_found');
      if (isOriginRefused) return createHttpError('cors_origin_not_allowed');
      if (checks === null) return null;
      if (checks.isQueryRefused && hasParameter(transport.query(request)))
        return createHttpError('invalid_query');
      if (checks.needsViews && !hasViews()) return createHttpError('database_unavailable', retryAfterSeconds);
      return null;
    },
  };
}

/** Rate-limited requests that are answered in one turn of the event loop. Connections of further ones are closed. */
export const refusalsPerTurn = 64;

/** Counts refusals in the current turn of the event loop. */
function createRefusalCount(): { isFlooded(): boolean } {
  let count = 0;
  return {
    isFlooded: () => {
      if (count === 0) {
        setImmediate(() => {
          count = 0;
        });
      }
      count++;
      return count > refusalsPerTurn;
    },
  };
}
