import { createHttpError } from '../../routes/errors.ts';
import type { FailureLog } from './failureLog.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

/** Whatever fails while a request is answered ends here: as a count, a line in the log, and a 500 where there is no answer yet. */
export interface ExchangeGuard {
  run(exchange: Exchange, answer: () => void): void;
  fail(exchange: Exchange, error: unknown): void;
  /** Of a failure that the answer survives. */
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
    // A response that broke off in the middle cannot become another one.
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
