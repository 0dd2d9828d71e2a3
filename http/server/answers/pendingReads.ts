import type { Registry } from 'prom-client';
import type { Clock } from '../../../actors/clock.ts';
import { registerMetrics } from '../../../actors/registerMetrics.ts';
import { createHttpError, type ErrorCode, errorStatus } from '../../routes/errors.ts';
import type { ReadResult } from '../../routes/route.ts';
import { createClientCounts } from '../limits/clientCounts.ts';
import type { ExchangeGuard } from './exchangeGuard.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';
import { retryAfterSeconds } from './routeAnswers.ts';

/** Expensive requests that may wait at the same time. Beyond them one is answered with `database_busy`. */
export const waitingMax = 64;
/** The same happens if the next turn of the event loop has been waited for so long. Then more is asked than this process can do. */
export const turnWaitMaxMs = 1_000;
/** A site counts as much as a client if it has this many times as many requests. */
const siteFactor = 2;
/** A read that takes longer is aborted and answered with `request_timeout`. */
export const defaultReadTimeoutMs = 10_000;

/** A read that found something. */
export type ReadBody<Body = unknown> = Exclude<ReadResult<Body>, { error: unknown }>;

/** Reads from memory, or from the database. */
export type Read<Body> = (signal: AbortSignal) => ReadResult<Body> | Promise<ReadResult<Body>>;

export type PendingReads = ReturnType<typeof createPendingReads>;

/** A request that is not answered yet. */
interface Waiting {
  readonly ending: AbortController;
  /** How much its client has waiting. */
  readonly weigh: () => number;
  isOver: boolean;
  shed(): void;
}

interface PendingReadsOptions {
  readonly writer: ResponseWriter;
  readonly guard: ExchangeGuard;
  readonly registry: Registry;
  readonly turns: Turns;
  readonly timeoutMs: number;
}

/**
 * Answers requests that may have to wait: for their turn of the event loop, and for the database. Each read is a task of its own, and so is the answer
 * to what was not read at once. If too many wait, the newest request of the client with most of them is refused. Each has a deadline, since uWebSockets.js
 * never ends a pending handler.
 */
export function createPendingReads({ writer, guard, registry, turns, timeoutMs }: PendingReadsOptions) {
  const pending = new Set<Waiting>();
  const counts = createClientCounts(1, siteFactor);
  registerMetrics(registry, {
    miner_http_reads_in_flight: ['Expensive requests that are not answered yet.', () => pending.size],
  });

  function shedOne() {
    if (pending.size <= waitingMax && turns.waitedMs() <= turnWaitMaxMs) return;
    const [first, ...others] = pending;
    others.reduce((chosen, one) => (one.weigh() >= chosen.weigh() ? one : chosen), first as Waiting).shed();
  }

  return {
    /** Runs reads, then answers with their bodies or the first error. Answers nothing once the peer has disconnected. */
    run: <Body>(
      exchange: Exchange,
      reads: readonly Read<Body>[],
      onBodies: (bodies: readonly ReadBody<Body>[]) => void,
    ) => {
      const { client, response } = exchange;
      const bodies: ReadBody<Body>[] = [];
      let unread = reads.length;
      let deadline: NodeJS.Timeout | undefined;
      const waiting: Waiting = {
        ending: new AbortController(),
        weigh: counts.weigh(client),
        isOver: false,
        shed: () => refuse('database_busy'),
      };
      const run = (task: () => void) => turns.take({ isOver: () => waiting.isOver, run: task });
      const finish = (write: () => void) => {
        if (waiting.isOver) return;
        waiting.isOver = true;
        clearTimeout(deadline);
        pending.delete(waiting);
        counts.change(client, -1);
        if (!exchange.isAborted) response.cork(write);
        if (unread > 0) waiting.ending.abort();
      };
      const fail = (error: unknown) => finish(() => guard.fail(exchange, error));
      const answer = () => finish(() => guard.run(exchange, () => onBodies(bodies)));
      function refuse(code: ErrorCode) {
        const isTemporary = errorStatus[code].status.startsWith('503');
        const error = createHttpError(code, isTemporary ? retryAfterSeconds : undefined);
        finish(() => guard.run(exchange, () => writer.writeError(exchange, error)));
      }
      const take = (index: number, result: ReadResult<Body>, isAnsweredAtOnce: boolean) => {
        if ('error' in result) return refuse(result.error);
        bodies[index] = result;
        unread--;
        if (unread > 0) return;
        if (isAnsweredAtOnce) answer();
        else run(answer);
      };
      const begin = (read: Read<Body>, index: number) => {
        try {
          const result = read(waiting.ending.signal);
          if (result instanceof Promise) result.then((later) => take(index, later, false), fail);
          else take(index, result, reads.length === 1);
        } catch (error) {
          fail(error);
        }
      };

      pending.add(waiting);
      counts.change(client, 1);
      shedOne();
      if (waiting.isOver) return;
      for (const [index, read] of reads.entries()) run(() => begin(read, index));
      if (reads.length === 0) run(answer);
      if (waiting.isOver) return;
      // From here on the response is written in a later turn.
      deadline = setTimeout(() => refuse('request_timeout'), timeoutMs);
      response.onAborted(() => {
        exchange.isAborted = true;
        finish(() => undefined);
      });
    },
    abortAll: () => {
      for (const { ending } of pending) ending.abort();
    },
  };
}

/** Work that costs much more than a polled view. It is dropped once nobody waits for it. */
interface Task {
  readonly isOver: () => boolean;
  readonly run: () => void;
}

export type Turns = ReturnType<typeof createTurns>;

/**
 * Shares the event loop between expensive and cheap work: each turn runs one task, with what the task continues at once. Between two turns the loop
 * serves what has arrived, so no cheap request waits for more than one task.
 */
export function createTurns({ monotonicMs }: Pick<Clock, 'monotonicMs'>) {
  const waiting: (Task & { readonly sinceMs: number })[] = [];
  let isTaken = false;

  function take(task: Task) {
    isTaken = true;
    setImmediate(beginTurn);
    task.run();
  }

  function beginTurn() {
    isTaken = false;
    let next = waiting.shift();
    while (next?.isOver()) next = waiting.shift();
    if (next !== undefined) take(next);
  }

  return {
    /** Runs a task now if this turn has not had one, else in a later turn, in order. The caller bounds their number. */
    take: (task: Task) => {
      if (isTaken) waiting.push({ ...task, sinceMs: monotonicMs() });
      else take(task);
    },
    /** How long the next task has waited for its turn. */
    waitedMs: () => (waiting[0] === undefined ? 0 : monotonicMs() - waiting[0].sinceMs),
  };
}
