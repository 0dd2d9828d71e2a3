import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { ReadAnswer } from '../routes/route.ts';
import { createHttpError, type HttpError } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { HttpMetrics } from './httpMetrics.ts';

/** Requests that may wait for the database at once; more are told to come back. */
export const inFlightMax = 64;
const busyRetryAfterSeconds = 1;

/** A read that found something. */
export type FoundBody<Body = unknown> = Exclude<ReadAnswer<Body>, { error: unknown }>;

export interface Reads {
  /** Runs a read, then calls exactly one of the others, and none when the peer is gone. */
  run<Body>(
    exchange: Exchange,
    read: (signal: AbortSignal) => ReadAnswer<Body> | Promise<ReadAnswer<Body>>,
    onBody: (answer: FoundBody<Body>) => void,
    onError: (error: HttpError) => void,
    onFailure: (error: unknown) => void,
  ): void;
  abortAll(): void;
}

/**
 * Reads that may take time. The abort handler is attached before anything is awaited, answers after an await are
 * corked, and each has a deadline: an idle socket is closed by uWebSockets.js, a pending handler never is.
 */
export function createReads({ metrics, timeoutMs }: { metrics: HttpMetrics; timeoutMs: number }): Reads {
  const pending = new Set<AbortController>();

  return {
    run: (exchange, read, onBody, onError, onFailure) => {
      if (metrics.readsInFlight >= inFlightMax)
        return onError(createHttpError('database_busy', busyRetryAfterSeconds));
      const ending = new AbortController();
      const found = read(ending.signal);
      if (!(found instanceof Promise)) return answer(found, onBody, onError);

      const { response } = exchange;
      let isAnswered = false;
      const finish = (write: () => void) => {
        if (isAnswered) return;
        isAnswered = true;
        clearTimeout(deadline);
        pending.delete(ending);
        metrics.reading(-1);
        if (!exchange.isAborted) response.cork(write);
      };
      const deadline = setTimeout(() => {
        finish(() => onError(createHttpError('request_timeout')));
        ending.abort();
      }, timeoutMs);
      response.onAborted(() => {
        exchange.isAborted = true;
        finish(() => undefined);
        ending.abort();
      });
      pending.add(ending);
      metrics.reading(1);
      found.then(
        (answered) => finish(() => answer(answered, onBody, onError)),
        (error: unknown) => finish(() => refuse(error, onError, onFailure)),
      );
    },
    abortAll: () => {
      for (const ending of pending) ending.abort();
    },
  };
}

function answer<Body>(
  found: ReadAnswer<Body>,
  onBody: (found: FoundBody<Body>) => void,
  onError: (error: HttpError) => void,
) {
  if ('error' in found) onError(createHttpError(found.error));
  else onBody(found);
}

function refuse(error: unknown, onError: (error: HttpError) => void, onFailure: (error: unknown) => void) {
  if (error instanceof StorageUnavailable)
    onError(createHttpError('database_unavailable', error.retryAfterSeconds));
  else onFailure(error);
}
