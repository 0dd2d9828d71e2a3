import { uptime } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Clock } from '../../actors/clock.ts';

/** `performance` is imported, since the global one is a getter, which would cost each request more than the clock itself. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  bootMs: () => uptime() * 1_000,
};
