import type { Clock } from '../../actors/views/clock.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { ReadResult } from '../routes/route.ts';
import { createHttpError, type HttpError } from './errors.ts';
import type { HttpMetrics } from './httpMetrics.ts';
import type { LoadGuard } from './loadGuard.ts';
import type { Exchange } from './responseWriter.ts';
import { createTurnBudget } from './turnBudget.ts';

/** Expensive requests that may wait at the same time; more are answered with `database_busy`. */
export const inFlightMax = 64;
/** A read that takes longer is ended, and answered with `request_timeout`. */
export const defaultReadTimeoutMs = 10_000;
const busyRetryAfterSeconds = 1;
const overloadedRetryAfterSeconds = 2;

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

export interface PendingReadsOptions {
  readonly metrics: HttpMetrics;
  /** While the event loop is late, none is begun; null where expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Reads that may take time. The abort handler is attached before anything is awaited, responses after an await are
 * corked, and each read has a deadline: uWebSockets.js closes an idle socket, but never ends a pending handler. They share each turn of the event
 * loop with what costs little.
 */
export function createPendingReads(options: PendingReadsOptions): PendingReads {
  const { metrics, loadGuard, timeoutMs, clock } = options;
  const pending = new Set<AbortController>();
  const budget = createTurnBudget(clock);

  return {
    run: (exchange, read, onBody, onError, onFailure) => {
      if (loadGuard?.isOverloaded()) {
        exchange.counts.shed();
        return onError(createHttpError('database_busy', overloadedRetryAfterSeconds));
      }
      if (metrics.readsInFlight >= inFlightMax)
        return onError(createHttpError('database_busy', busyRetryAfterSeconds));
      const ending = new AbortController();
      const { response } = exchange;
      let deadline: NodeJS.Timeout | null = null;
      let isAnswered = false;

      /** The response may be written in a later turn from here on. */
      const wait = () => {
        deadline = setTimeout(() => {
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
      };
      const finish = (write: () => void) => {
        if (isAnswered) return;
        isAnswered = true;
        if (deadline !== null) clearTimeout(deadline);
        pending.delete(ending);
        metrics.reading(-1);
        if (!exchange.isAborted) response.cork(write);
      };
      const follow = (found: ReturnType<typeof read>) => {
        if (!(found instanceof Promise)) return finish(() => answer(found, onBody, onError));
        found.then(
          (answered) => budget.run(() => finish(() => answer(answered, onBody, onError))),
          (error: unknown) => finish(() => refuse(error, onError, onFailure)),
        );
      };
      const readLater = () => {
        if (isAnswered) return;
        try {
          follow(read(ending.signal));
        } catch (error) {
          finish(() => refuse(error, onError, onFailure));
        }
      };

      if (budget.isSpent()) {
        wait();
        return budget.run(readLater);
      }
      budget.run(() => {
        const found = read(ending.signal);
        if (!(found instanceof Promise)) return answer(found, onBody, onError);
        wait();
        follow(found);
      });
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
