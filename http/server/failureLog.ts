import type { Logger } from 'pino';
import type { Clock } from '../../actors/views/clock.ts';

/** A failure that lasts is said again after this time. */
const repeatedAfterMs = 60_000;
/** Failures that are memoize; when there are more, all are forgotten, and said once more. */
const failuresMax = 256;

/** Says why a route fails: once for each reason, not once for each request that meets it. */
export interface FailureLog {
  note(error: unknown, about: { readonly route: string; readonly requestId: string }): void;
}

export function createFailureLog(logger: Logger, clock: Clock): FailureLog {
  const saidAtMs = new Map<string, number>();
  return {
    note: (error, about) => {
      const key = `${about.route} ${error instanceof Error ? error.message : String(error)}`;
      const nowMs = clock.monotonicMs();
      const isRepeated = nowMs - (saidAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < repeatedAfterMs;
      // Whoever looks for the ID of one request finds it at this level.
      if (isRepeated) return logger.debug({ err: error, ...about }, 'request failed for the same reason');
      if (saidAtMs.size >= failuresMax) saidAtMs.clear();
      saidAtMs.set(key, nowMs);
      logger.error({ err: error, ...about }, 'request failed');
    },
  };
}
