import type { Clock } from '../../../actors/clock.ts';
import { createHttpError, errorStatus, type HttpError } from '../../routes/errors.ts';
import type { ReadResult } from '../../routes/route.ts';
import { createClientCounts } from '../limits/clientCounts.ts';
import type { LoadGuard } from '../limits/loadGuard.ts';
import { createTurnBudget } from '../limits/turnBudget.ts';
import type { ExchangeGuard } from './exchangeGuard.ts';
import type { HttpMetrics } from './httpMetrics.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';
import { retryAfterSeconds } from './routeAnswers.ts';

/** Expensive requests that may wait at the same time; further ones are answered with `database_busy`. */
export const inFlightMax = 64;
/** Reads that one client, and one site, may wait for at the same time. The rest is left for others while reads take long. */
export const waitingOfClientMax = 16;
export const waitingOfSiteMax = 32;
/** A read that takes longer is aborted and answered with `request_timeout`. */
export const defaultReadTimeoutMs = 10_000;
const busyRetryAfterSeconds = 1;
const overloadedRetryAfterSeconds = 2;

/** A read that found something. */
export type ReadBody<Body = unknown> = Exclude<ReadResult<Body>, { error: unknown }>;

export interface PendingReads {
  /** Runs a read, then answers with its body or its error. Answers nothing once the peer has disconnected. */
  run<Body>(
    exchange: Exchange,
    read: (signal: AbortSignal) => ReadResult<Body> | Promise<ReadResult<Body>>,
    onBody: (answer: ReadBody<Body>) => void,
  ): void;
  /** Whether the request would be refused now, with `database_busy`. */
  isBusy(exchange: Exchange): boolean;
  abortAll(): void;
}

interface PendingReadsOptions {
  readonly writer: ResponseWriter;
  readonly guard: ExchangeGuard;
  readonly metrics: HttpMetrics;
  /** No read begins while the event loop is late. Null if expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Answers requests that may have to wait for a read. The abort handler is attached before anything is awaited, and responses
 * after an await are corked. Each read has a deadline, since uWebSockets.js never ends a pending handler. Reads leave a part
 * of each turn of the event loop to cheap requests.
 */
export function createPendingReads(options: PendingReadsOptions): PendingReads {
  const { writer, guard, metrics, loadGuard, timeoutMs, clock } = options;
  const pending = new Set<AbortController>();
  const counts = createClientCounts(waitingOfClientMax, waitingOfSiteMax);
  const budget = createTurnBudget(clock);

  function answer<Body>(
    exchange: Exchange,
    found: ReadResult<Body>,
    onBody: (found: ReadBody<Body>) => void,
  ) {
    if ('error' in found) {
      const isTemporary = errorStatus[found.error].status.startsWith('503');
      refuse(exchange, createHttpError(found.error, isTemporary ? retryAfterSeconds : undefined));
    } else guard.run(exchange, () => onBody(found));
  }

  function refuse(exchange: Exchange, error: HttpError) {
    guard.run(exchange, () => writer.writeError(exchange, error));
  }

  const isOverloaded = () => loadGuard?.isOverloaded() ?? false;
  const isFull = ({ client }: Exchange) => metrics.readsInFlight >= inFlightMax || counts.isFull(client);

  return {
    run: (exchange, read, onBody) => {
      if (isOverloaded()) {
        exchange.counts.shed();
        return refuse(exchange, createHttpError('database_busy', overloadedRetryAfterSeconds));
      }
      if (isFull(exchange)) return refuse(exchange, createHttpError('database_busy', busyRetryAfterSeconds));
      const ending = new AbortController();
      const { client, response } = exchange;
      let deadline: NodeJS.Timeout | null = null;
      let isAnswered = false;

      /** From here on the response may be written in a later turn. */
      const wait = () => {
        deadline = setTimeout(
          () => abandon(() => refuse(exchange, createHttpError('request_timeout'))),
          timeoutMs,
        );
        response.onAborted(() => {
          exchange.isAborted = true;
          abandon(() => undefined);
        });
        pending.add(ending);
        counts.change(client, 1);
        metrics.changeReadsInFlight(1);
      };
      const finish = (write: () => void) => {
        if (isAnswered) return;
        isAnswered = true;
        if (deadline !== null) clearTimeout(deadline);
        pending.delete(ending);
        counts.change(client, -1);
        metrics.changeReadsInFlight(-1);
        if (!exchange.isAborted) response.cork(write);
      };
      const abandon = (write: () => void) => {
        if (isAnswered) return;
        finish(write);
        ending.abort();
      };
      const follow = (found: ReturnType<typeof read>) => {
        if (!(found instanceof Promise)) return finish(() => answer(exchange, found, onBody));
        found.then(
          (answered) => budget.run(() => finish(() => answer(exchange, answered, onBody))),
          (error: unknown) => finish(() => guard.fail(exchange, error)),
        );
      };
      const readLater = () => {
        if (isAnswered) return;
        try {
          follow(read(ending.signal));
        } catch (error) {
          finish(() => guard.fail(exchange, error));
        }
      };

      if (budget.isSpent()) {
        wait();
        return budget.run(readLater);
      }
      budget.run(() => {
        const found = read(ending.signal);
        if (!(found instanceof Promise)) return answer(exchange, found, onBody);
        wait();
        follow(found);
      });
    },
    isBusy: (exchange) => isOverloaded() || isFull(exchange),
    abortAll: () => {
      for (const ending of pending) ending.abort();
    },
  };
}
