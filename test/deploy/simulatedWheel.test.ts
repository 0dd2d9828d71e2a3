import { expect, it } from 'vitest';
import {
  type CounterReadingMessage,
  counterReadingMessage,
  toCounterReading,
} from '../../actors/wheel/counterReading.ts';
import { createWheel, listPastTimes, observe, resumeWheel } from '../../deploy/local/simulatedWheel.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

const past = (lengthMs: number, intervalMs: number) => ({
  fromMs: startMs,
  untilMs: startMs + lengthMs,
  intervalMs,
});

function history(seed: string, times: Iterable<number>): CounterReadingMessage[] {
  let wheel = createWheel({ installationId: 'wheel', seed, startMs });
  return [...times].map((atMs) => {
    const observed = observe(wheel, atMs);
    wheel = observed.wheel;
    return observed.message;
  });
}

it('the simulated wheel is the same for the same seed, and continues from its last message', () => {
  const times = [...listPastTimes('a', past(3_600_000, 10_000))];
  const messages = history('a', times);
  expect(history('a', times)).toEqual(messages);
  expect(history('b', times)).not.toEqual(messages);
  let wheel = resumeWheel(toCounterReading(counterReadingMessage.parse(messages[99]), 100), 'a');
  const rest = times.slice(100).map((atMs) => {
    const observed = observe(wheel, atMs);
    wheel = observed.wheel;
    return observed.message;
  });
  // At most the unfinished turn at the stop is lost.
  const difference =
    BigInt(messages.at(-1)?.cumulativeWorkUnits ?? 0) - BigInt(rest.at(-1)?.cumulativeWorkUnits ?? 0);
  expect(difference).toBeGreaterThanOrEqual(0n);
  expect(difference).toBeLessThanOrEqual(4n);
  expect(rest.map(({ telemetryId }) => telemetryId)).toEqual(
    messages.slice(100).map(({ telemetryId }) => telemetryId),
  );
});
