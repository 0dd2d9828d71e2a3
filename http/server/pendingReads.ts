import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { ReadResult } from '../routes/route.ts';
import { createHttpError, type HttpError } from './errors.ts';
import type { HttpMetrics } from './httpMetrics.ts';
import type { Exchange } from './responseWriter.ts';

/** Requests that may wait for the database at the same time; more are answered with `database_busy`. */
export const inFlightMax = 64;
/** A read that takes longer is ended, and answered with `request_timeout`. */
export const defaultReadTimeoutMs = 10_000;
const busyRetryAfterSeconds = 1;

/** A read that found something. */
export type ReadBody<Body = unknown> = Exclude<ReadResult<Body>, { error: unknown }>;

export interface PendingReads {
  /** Runs a read, then calls exactly one of the others, and none when the peer has disconnected. */
  run<Body>(
    exchange: Exchange,
    read: (signal: AbortSignal) => ReadResult<Body> | Promise<ReadResult<Body>>,
    onBody: (answer: ReadBody<Body>) => void,
    onError: (error: HttpError) => void,
    onFailure: (error: unknown) => void,
  ): void;
  abortAll(): void;
}

/**
 * Reads that may take time. The abort handler is attached before anything is awaited, responses after an await are
 * corked, and each read has a deadline: uWebSockets.js closes an idle socket, but never ends a pending handler.
 */
export function createPendingReads({
  metrics,
  timeoutMs,
}: {
  metrics: HttpMetrics;
  timeoutMs: number;
}): PendingReads {
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
  found: ReadResult<Body>,
  onBody: (found: ReadBody<Body>) => void,
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
