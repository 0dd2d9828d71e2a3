import type { Clock } from '../../actors/clock.ts';

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function manualClock(startMs = Date.UTC(2026, 0, 31, 12)): ManualClock {
  let elapsedMs = 0;
  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => 1_000 + elapsedMs,
    bootMs: () => 5_000 + elapsedMs,
    advance: (ms) => {
      elapsedMs += ms;
    },
  };
}
