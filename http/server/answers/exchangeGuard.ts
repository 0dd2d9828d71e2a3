import type { Logger } from 'pino';
import type { Clock } from '../../../actors/clock.ts';
import { StoreUnavailable } from '../../../actors/pages/olderRows.ts';
import { createHttpError, type HttpError } from '../../routes/errors.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/** A persistent failure is logged again after this time. */
const repeatedAfterMs = 60_000;
/** Failures that are remembered. Once there are more, all are forgotten, and each is logged once more. */
const failuresMax = 256;

export type ExchangeGuard = ReturnType<typeof createExchangeGuard>;

/**
 * Logs every failure to answer a request, counts those that are a fault of the program, and answers 500, or 503 for an unavailable database, if
 * nothing was sent yet.
 */
export function createExchangeGuard(
  writer: Pick<ResponseWriter, 'writeError'>,
  logger: Logger,
  clock: Clock,
) {
  const loggedAtMs = new Map<string, number>();

  /**
   * Logs and counts a failure that does not keep the request from being answered. It is logged once per route and reason instead of once per
   * request; an unavailable database counts as one reason.
   */
  function note(
    { route, requestId, counts }: Pick<Exchange, 'route' | 'requestId' | 'counts'>,
    error: unknown,
  ) {
    const isUnavailable = error instanceof StoreUnavailable;
    if (!isUnavailable) counts.failed();
    const about = { err: error, route, requestId };
    const key = `${route} ${isUnavailable ? error.name : String(error)}`;
    const nowMs = clock.monotonicMs();
    const isRepeated = nowMs - (loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < repeatedAfterMs;
    // At this level a search for the ID of one request still finds it.
    if (isRepeated) return logger.debug(about, 'request failed for the same reason');
    if (loggedAtMs.size >= failuresMax) loggedAtMs.clear();
    loggedAtMs.set(key, nowMs);
    logger[isUnavailable ? 'warn' : 'error'](about, 'request failed');
  }

  /** Notes a failure, and ends the exchange: with an error, or by closing the connection. */
  function fail(exchange: Exchange, error: unknown) {
    note(exchange, error);
    if (exchange.isAborted) return;
    // Part of the response was sent, so the connection can only be closed.
    if (exchange.isAnswered) exchange.response.close();
    else writer.writeError(exchange, toHttpError(error));
  }

  return {
    /** Calls `answer`, and handles what it throws like {@link fail}. */
    run: (exchange: Exchange, answer: () => void) => {
      try {
        answer();
      } catch (error) {
        fail(exchange, error);
      }
    },
    fail,
    note,
  };
}

function toHttpError(error: unknown): HttpError {
  return error instanceof StoreUnavailable
    ? createHttpError('database_unavailable', error.retryAfterSeconds)
    : createHttpError('internal_error');
}
