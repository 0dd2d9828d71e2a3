import type { HttpRequest } from 'uWebSockets.js';
import { createHttpError, type HttpError } from '../routes/errors.ts';
import type { RateClass } from '../routes/rateClasses.ts';
import type { Route } from '../routes/route.ts';
import type { Exchange } from './answers/responseWriter.ts';
import { retryAfterSeconds } from './answers/routeAnswers.ts';
import type { Transport } from './engine/uws.ts';
import type { RateLimiter } from './limits/rateLimiter.ts';
import { createRefusalCount } from './limits/refusalCount.ts';
import type { FindClientAddress } from './requests/clientAddress.ts';

/** What is checked before a request is answered: its rate class, whether it reads a query, and whether there are views. */
export interface Guarded extends Pick<Route, 'rateClass' | 'query'> {
  readonly canAnswerWithoutViews?: true;
}

/** The same of every route in one form: routes are objects of many shapes, which would have to be distinguished at each request. */
interface RequestChecks {
  readonly isQueryRefused: boolean;
  readonly needsViews: boolean;
}

interface RequestVerdict {
  readonly isRead: boolean;
  readonly isOriginRefused: boolean;
}

export function toChecks({ query, canAnswerWithoutViews }: Guarded): RequestChecks {
  return { isQueryRefused: query === 'none', needsViews: canAnswerWithoutViews !== true };
}

/** `?` and `?&` have none. */
function hasParameter(query: string): boolean {
  return query !== '' && new URLSearchParams(query).size > 0;
}

export interface RequestRefusals {
  /** Counts a request of a client; null where it has not sent too many. */
  limit(exchange: Exchange, rateClass: RateClass): HttpError | null;
  /**
   * Beyond so many refusals in one turn of the event loop connections are closed, since an answer costs more than it takes to ask. So is one whose HEAD is
   * refused: answers without a body wait in memory for a client that does not read.
   */
  isWorthAnswering(exchange: Exchange): boolean;
  /** Null when it is passed. */
  find(request: HttpRequest, checks: RequestChecks | null, verdict: RequestVerdict): HttpError | null;
}

interface RequestRefusalsOptions {
  readonly transport: Transport;
  /** Null where clients are not limited. */
  readonly limiter: RateLimiter | null;
  readonly findClientAddress: FindClientAddress;
  /** False until folded state was restored. */
  readonly hasViews: () => boolean;
}

export function createRequestRefusals(options: RequestRefusalsOptions): RequestRefusals {
  const { transport, limiter, findClientAddress, hasViews } = options;
  const refusals = createRefusalCount();
  return {
    limit: (exchange, rateClass) => {
      if (limiter === null) return null;
      const { address, isOfProxy } = findClientAddress(exchange.response, exchange.headers.forwardedFor);
      exchange.client = address;
      exchange.isOfProxy = isOfProxy;
      const verdict = limiter.take(address, rateClass, exchange.seenAtMs);
      exchange.limit = verdict;
      return verdict.waitSeconds === 0 ? null : createHttpError('rate_limited', verdict.waitSeconds);
    },
    isWorthAnswering: ({ isHead, isOfProxy }) => isOfProxy || !(isHead || refusals.isFlooded()),
    find: (request, checks, { isRead, isOriginRefused }) => {
      if (!isRead) return createHttpError('not_found');
      if (isOriginRefused) return createHttpError('cors_origin_not_allowed');
      if (checks === null) return null;
      if (checks.isQueryRefused && hasParameter(transport.query(request)))
        return createHttpError('invalid_query');
      if (checks.needsViews && !hasViews()) return createHttpError('database_unavailable', retryAfterSeconds);
      return null;
    },
  };
}
