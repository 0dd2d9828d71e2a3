import { RecordsUnavailable } from '../../../actors/older/recordsUnavailable.ts';
import { createHttpError, type HttpError } from '../../routes/errors.ts';
import type { FailureLog } from './failureLog.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/**
 * Logs every failure to answer a request, counts those that are a fault of the program, and answers 500, or 503 for an unavailable database, if
 * nothing was sent yet.
 */
export interface ExchangeGuard {
  /** Calls `answer`, and handles what it throws like {@link fail}. */
  run(exchange: Exchange, answer: () => void): void;
  /** Also ends the exchange: with an error, or by closing the connection. */
  fail(exchange: Exchange, error: unknown): void;
  /** Logs and counts a failure that does not keep the request from being answered. */
  note(exchange: Exchange, error: unknown): void;
}

export function createExchangeGuard(writer: ResponseWriter, failures: FailureLog): ExchangeGuard {
  function note({ route, requestId, counts }: Exchange, error: unknown) {
    if (!(error instanceof RecordsUnavailable)) counts.failed();
    failures.note(error, { route, requestId });
  }

  function fail(exchange: Exchange, error: unknown) {
    note(exchange, error);
    if (exchange.isAborted) return;
    // Part of the response was sent, so the connection can only be closed.
    if (exchange.isAnswered) exchange.response.close();
    else writer.writeError(exchange, toHttpError(error));
  }

  return {
    run: (exchange, answer) => {
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
  return error instanceof RecordsUnavailable
    ? createHttpError('database_unavailable', error.retryAfterSeconds)
    : createHttpError('internal_error');
}
