import type { Logger } from 'pino';
import type { Clock } from '../../../actors/clock.ts';
import { RecordsUnavailable } from '../../../actors/older/recordsUnavailable.ts';

/** A persistent failure is logged again after this time. */
const repeatedAfterMs = 60_000;
/** Failures that are remembered. Once there are more, all are forgotten, and each is logged once more. */
const failuresMax = 256;

/** Logs why a route fails, once per reason instead of once per request. An unavailable database counts as one reason. */
export interface FailureLog {
  note(error: unknown, about: { readonly route: string; readonly requestId: string }): void;
}

export function createFailureLog(logger: Logger, clock: Clock): FailureLog {
  const loggedAtMs = new Map<string, number>();
  return {
    note: (error, about) => {
      const isUnavailable = error instanceof RecordsUnavailable;
      const key = `${about.route} ${isUnavailable ? error.name : String(error)}`;
      const nowMs = clock.monotonicMs();
      const isRepeated = nowMs - (loggedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < repeatedAfterMs;
      // At this level a search for the ID of one request still finds it.
      if (isRepeated) return logger.debug({ err: error, ...about }, 'request failed for the same reason');
      if (loggedAtMs.size >= failuresMax) loggedAtMs.clear();
      loggedAtMs.set(key, nowMs);
      logger[isUnavailable ? 'warn' : 'error']({ err: error, ...about }, 'request failed');
    },
  };
}
