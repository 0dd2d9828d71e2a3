import { performance } from 'node:perf_hooks';
import { interval, Subscription, takeWhile } from 'rxjs';
import type { Clock } from '../../../actors/clock.ts';

/** Above this average delay expensive requests are refused, since every request waits too long for its turn. */
export const eventLoopDelayMaxMs = 25;
const sampleMs = 20;
/** Weight of the newest sample in the average, which notices the beginning and the end of a sustained delay within a second. */
const sampleWeight = 0.04;
/** Bound of a sample, so that a single long delay is not overload, such as after the process was suspended. */
const sampleMaxMs = 500;
/** Sampling ends when nobody has asked for this long, since 50 timers a second would be much of what a service at rest does. */
const unaskedMaxMs = 5_000;

/** Protects cheap requests from expensive ones. It measures how late the event loop is, which is how long a request waits before it is seen. */
export interface LoadGuard {
  isOverloaded(): boolean;
  stop(): void;
}

/**
 * @param activeMs time that the event loop has worked so far. A delay counts only as far as the loop worked meanwhile. If it was idle,
 *   the machine was busy with other work, and refusing requests would not help.
 */
export function createLoadGuard(
  clock: Clock,
  activeMs: () => number = () => performance.eventLoopUtilization().active,
): LoadGuard {
  let delayMs = 0;
  let askedMs = 0;
  let sampledMs = 0;
  let activeThroughMs = 0;
  let sampling = Subscription.EMPTY;
  const sample = () => {
    const [nowMs, nowActiveMs] = [clock.monotonicMs(), activeMs()];
    const lateMs = Math.max(0, nowMs - sampledMs - sampleMs);
    const ownMs = Math.min(sampleMaxMs, lateMs, nowActiveMs - activeThroughMs);
    sampledMs = nowMs;
    activeThroughMs = nowActiveMs;
    delayMs += (ownMs - delayMs) * sampleWeight;
  };
  const isAsked = () => clock.monotonicMs() - askedMs < unaskedMaxMs;
  const begin = () => {
    delayMs = 0;
    sampledMs = clock.monotonicMs();
    activeThroughMs = activeMs();
    sampling = interval(sampleMs).pipe(takeWhile(isAsked)).subscribe(sample);
  };
  return {
    isOverloaded() {
      askedMs = clock.monotonicMs();
      if (sampling.closed) begin();
      return delayMs > eventLoopDelayMaxMs;
    },
    stop: () => sampling.unsubscribe(),
  };
}
