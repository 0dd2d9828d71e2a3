import type { Clock } from '../../actors/clock.ts';

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** A negative time sets only the time of day back. */
  advance(ms: number): void;
}

export function manualClock(startMs = Date.UTC(2026, 0, 31, 12)): ManualClock {
  let elapsedMs = 0;
  let wallMs = startMs;
  return {
    nowMs: () => wallMs,
    monotonicMs: () => 1_000 + elapsedMs,
    bootMs: () => 5_000 + elapsedMs,
    advance: (ms) => {
      wallMs += ms;
      elapsedMs += Math.max(0, ms);
    },
  };
}
