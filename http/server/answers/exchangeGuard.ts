import { createHttpError } from '../../routes/errors.ts';
import type { FailureLog } from './failureLog.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/** Handles every failure while a request is answered: counts it, logs it, and answers 500 if nothing was sent yet. */
export interface ExchangeGuard {
  run(exchange: Exchange, answer: () => void): void;
  fail(exchange: Exchange, error: unknown): void;
  /** Counts and logs a failure despite which the request is answered. */
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
    // Part of the response was sent, so it can only be broken off.
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
