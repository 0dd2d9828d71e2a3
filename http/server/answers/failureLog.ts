import type { Logger } from 'pino';
import type { Clock } from '../../../actors/clock.ts';

/** A failure that lasts is logged again after this time. */
const repeatedAfterMs = 60_000;
/** Different failures that are remembered; when there are more, all are forgotten, and each is logged once more. */
const failuresMax = 256;

/** Logs why a route fails: once for each reason, not once for each request. */
export interface FailureLog {
  note(error: unknown, about: { readonly route: string; readonly requestId: string }): void;
}

export function createFailureLog(logger: Logger, clock: Clock): FailureLog {
  const loggedAtMs = new Map<string, number>();
  return {
    note: (error, about) => {
      const key = `${about.route} ${String(error)}`;
      const nowMs = clock.monotonicMs();
      const isRepeated = nowMs - (loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < repeatedAfterMs;
      // A search for the ID of one request finds it at this level.
      if (isRepeated) return logger.debug({ err: error, ...about }, 'request failed for the same reason');
      if (loggedAtMs.size >= failuresMax) loggedAtMs.clear();
      loggedAtMs.set(key, nowMs);
      logger.error({ err: error, ...about }, 'request failed');
    },
  };
}
