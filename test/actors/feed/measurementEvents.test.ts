import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toMeasurementItem } from '../../../actors/feed/feedItem.ts';
import type { CounterReading } from '../../../actors/wheel/counterReading.ts';
import type { MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { addPublicReading, nothingPublic, type PublicState } from '../../../actors/wheel/publicState.ts';
import { toFeedEventBody } from '../../../http/responses/feed/feedEvent.ts';
import { buildMeasurementEvents } from '../../reference/measurementFeed.ts';
import { acceptedReading } from '../../support/readings/acceptedReading.ts';
import { listDifferences } from '../../support/reference/listDifferences.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const dayMs = 86_400_000;
const km = 1_000_000;

function foldReadings(readings: readonly CounterReading[]): MeasurementProgress | null {
  const state: PublicState = { ...nothingPublic };
  for (const reading of readings)
    expect(addPublicReading(state, { reading, round: null, storedAtMs: 0 })).toBeNull();
  return state.progress;
}

/** The events as bodies, by their IDs. */
const listBodies = (progress: MeasurementProgress | null) =>
  byId((progress?.events.toArray() ?? []).map((event) => toFeedEventBody(toMeasurementItem(event), null)));
const byId = <Event extends { readonly id: string }>(events: readonly Event[]) =>
  events.toSorted((one, other) => (one.id < other.id ? -1 : 1));

const buildReading = (position: number, atMs: number, distanceMm: number, speedMmPerSecond = 0) =>
  acceptedReading({ position, observedAtMs: noon + atMs, distanceMm, speedMmPerSecond });

describe('events of the measurements', () => {
  it('name no streak of more than ten years', () => {
    const state: PublicState = { ...nothingPublic };
    for (let day = 0; day <= 3_651; day++) {
      const reading = buildReading(day + 1, day * dayMs, 50 * km);
      addPublicReading(state, { reading, round: null, storedAtMs: 0 });
    }
    const streaks = (state.progress?.events.toArray() ?? []).flatMap(({ achievement }) =>
      achievement.type === 'measurement.distance_streak' ? achievement.days : [],
    );
    expect(streaks.at(-1)).toBe(3_650);
  });

  it('are the reference’s, at each threshold and for random histories', () => {
    const beside = (threshold: number) => [threshold - 1, threshold];
    // The last one also has some of the first distances among its highest hundred.
    const lifetimeKm = [1, 3, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100, 150, 200, 1_000, 5_050];
    const distances = [0, ...lifetimeKm.flatMap((one) => beside(one * km))];
    const speeds = [0, 100, 111, 112, ...[56, 556, 834, 1_667, 2_778].flatMap(beside)];
    const step = fc.record({
      gapMs: fc.oneof(fc.nat(20_000_000), fc.constantFrom(0, dayMs / 2, dayMs, 2 * dayMs)),
      distanceMm: fc.oneof(fc.nat(20 * km), fc.constantFrom(...distances)),
      speed: fc.oneof(fc.nat(3_000), fc.constantFrom(...speeds)),
    });
    // Each distance as the first one of its own day, and each speed, in ascending order.
    const alone = distances.map((distanceMm) => [{ gapMs: 0, distanceMm, speed: 0 }]);
    const rising = speeds.toSorted((a, b) => a - b).map((speed) => ({ gapMs: 1, distanceMm: 0, speed }));
    const daily = [5 * km, 5 * km, 6 * km, 5 * km - 1, 5 * km, 16 * km].map((distanceMm) => ({
      gapMs: dayMs,
      distanceMm,
      speed: 0,
    }));
    // Far more than a hundred distances at once, and the next one.
    const far = [Number.MAX_SAFE_INTEGER, 50 * km].map((distanceMm) => ({
      gapMs: dayMs,
      distanceMm,
      speed: 0,
    }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let atMs = 0;
        const readings = steps.map(({ gapMs, distanceMm, speed }, index) => {
          atMs += gapMs;
          return buildReading(index + 1, atMs, distanceMm, speed);
        });
        const expected = byId(buildMeasurementEvents(readings));
        expect(listDifferences(listBodies(foldReadings(readings)), expected)).toEqual([]);
      }),
      { numRuns: 500, examples: [[rising], [daily], [far], ...alone.map((one): [typeof one] => [one])] },
    );
  });
});
