import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CounterReadingMessage, counterReadingMessage } from '../../actors/wheel/counterReading.ts';
import {
  createWheel,
  isOutage,
  listPastTimes,
  observe,
  resumeWheel,
} from '../../deploy/local/simulatedWheel.ts';
import { runs } from '../support/propertyRuns.ts';

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

describe('simulated wheel', () => {
  it('publishes valid readings with a counter that never falls and a distance that restarts at noon', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 8 }), (seed) => {
        const messages = history(seed, listPastTimes(seed, past(2 * 86_400_000, 60_000)));
        let previous: CounterReadingMessage | null = null;
        for (const message of messages) {
          expect(counterReadingMessage.safeParse(message).success).toBe(true);
          if (previous !== null) {
            expect(BigInt(message.cumulativeWorkUnits)).toBeGreaterThanOrEqual(
              BigInt(previous.cumulativeWorkUnits),
            );
            const isSameDay =
              Math.floor((Date.parse(message.observedAt) - startMs) / 86_400_000) ===
              Math.floor((Date.parse(previous.observedAt) - startMs) / 86_400_000);
            if (isSameDay) expect(message.distanceMm).toBeGreaterThanOrEqual(previous.distanceMm);
            expect(message.sequence).toBe(previous.sequence + 1);
          }
          previous = message;
        }
        expect(Number(messages.at(-1)?.cumulativeWorkUnits)).toBeGreaterThan(1_000);
      }),
      { numRuns: runs(4) },
    );
  });

  it('is the same for the same seed, and continues from its last message', () => {
    const times = [...listPastTimes('a', past(3_600_000, 10_000))];
    const messages = history('a', times);
    expect(history('a', times)).toEqual(messages);
    expect(history('b', times)).not.toEqual(messages);
    let wheel = resumeWheel(messages[99] as CounterReadingMessage, 'a');
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

  it('is silent while the link is down, once a day', () => {
    for (let day = 0; day < 10; day++) {
      const dayStartMs = startMs + day * 86_400_000;
      const minutes = Array.from({ length: 1_440 }, (_, minute) => dayStartMs + minute * 60_000);
      const down = minutes.filter((atMs) => isOutage('seed', atMs)).length;
      expect(down).toBeLessThanOrEqual(82);
    }
  });
});
