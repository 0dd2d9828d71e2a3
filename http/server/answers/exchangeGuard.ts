import { createHttpError } from '../../routes/errors.ts';
import type { FailureLog } from './failureLog.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/** Counts and logs every failure to answer a request, and answers 500 if nothing was sent yet. */
export interface ExchangeGuard {
  /** Calls `answer`, and handles what it throws like {@link fail}. */
  run(exchange: Exchange, answer: () => void): void;
  /** Also ends the exchange: with an error, or by closing the connection. */
  fail(exchange: Exchange, error: unknown): void;
  /** Counts and logs a failure that does not keep the request from being answered. */
  note(exchange: Exchange, error: unknown): void;
}

export function createExchangeGuard(writer: ResponseWriter, failures: FailureLog): ExchangeGuard {
  function note({ route, requestId, counts }: Exchange, error: unknown) {
    counts.failed();
    failures.note(error, { route, requestId });
  }

  function fail(exchange: Exchange, error: unknown) {
    note(exchange, error);
    if (exchange.isAborted) return;
    // Part of the response was sent, so the connection can only be closed.
    if (exchange.isAnswered) exchange.response.close();
    else writer.writeError(exchange, createHttpError('internal_error'));
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
