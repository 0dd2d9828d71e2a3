import { performance } from 'node:perf_hooks';
import { interval } from 'rxjs';
import type { Clock } from '../../../actors/clock.ts';

/** Later than this on average, everything waits its turn too long: expensive requests are refused until it is less. */
export const eventLoopDelayMaxMs = 25;
const sampleMs = 20;
/** Of the newest sample in the average: sustained delay is noticed within a second, and its end as well. */
const sampleWeight = 0.04;
/** A single sample of any size, such as after a process was suspended, is not overload. */
const sampleMax = 500;

/** Protects what costs little from what costs much: how late the event loop is, since a request waits for as long before it is even seen. */
export interface LoadGuard {
  isOverloaded(): boolean;
  stop(): void;
}

/**
 * @param activeMs time that the event loop has worked so far. Only as much of a delay counts: where the loop was idle meanwhile, it was the machine
 *   that was busy with other work, and refusing requests would not help.
 */
export function createLoadGuard(
  clock: Clock,
  activeMs: () => number = () => performance.eventLoopUtilization().active,
): LoadGuard {
  let delayMs = 0;
  let sampledMs = clock.monotonicMs();
  let activeThroughMs = activeMs();
  const sampling = interval(sampleMs).subscribe(() => {
    const [nowMs, nowActiveMs] = [clock.monotonicMs(), activeMs()];
    const lateMs = Math.max(0, nowMs - sampledMs - sampleMs);
    const ownMs = Math.min(sampleMax, lateMs, nowActiveMs - activeThroughMs);
    sampledMs = nowMs;
    activeThroughMs = nowActiveMs;
    delayMs += (ownMs - delayMs) * sampleWeight;
  });
  return {
    isOverloaded: () => delayMs > eventLoopDelayMaxMs,
    stop: () => sampling.unsubscribe(),
  };
}
