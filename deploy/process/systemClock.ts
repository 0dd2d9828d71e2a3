import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../actors/clock.ts';

/** `performance` is imported: the global one is a getter that costs more than the clock itself. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  bootMs: () => uptime() * 1_000,
};
