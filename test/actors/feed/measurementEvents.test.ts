import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Achievement } from '../../../actors/events/eventSchemas.ts';
import type { CounterReading } from '../../../actors/wheel/counterReading.ts';
import { formatDiscriminator, type MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { addPublicReading, type PublicState } from '../../../actors/wheel/publicState.ts';
import { listReached } from '../../reference/measurementFeed.ts';
import { acceptedReading } from '../../support/readings/acceptedReading.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const dayMs = 86_400_000;
const km = 1_000_000;

function foldReadings(readings: readonly CounterReading[]): MeasurementProgress | null {
  const state: PublicState = { history: null, progress: null };
  for (const reading of readings)
    expect(addPublicReading(state, { reading, round: null, stored: { timestampNanos: 0n } })).toBeNull();
  return state.progress;
}

function formatAchievement(achievement: Achievement): string {
  const amount =
    achievement.type === 'measurement.distance_streak'
      ? achievement.days
      : achievement.type === 'measurement.speed_record'
        ? achievement.previous
        : achievement.observed;
  return formatLine(achievement.type, formatDiscriminator(achievement), amount);
}

const formatLine = (type: string, discriminator: string, amount: unknown) =>
  `${type.replace('measurement.', '')} ${discriminator} ${amount}`;

/** Lines of all events, sorted within the reading that they came from. */
function formatEvents(progress: MeasurementProgress | null): string[] {
  return sortWithinReadings(
    (progress?.events.toArray() ?? []).map(({ achievement, position }) => [
      position,
      formatAchievement(achievement),
    ]),
  );
}

/** The same lines of the reference. */
function formatReached(readings: readonly CounterReading[]): string[] {
  return sortWithinReadings(
    listReached(readings).map(({ reading, reached: { type, discriminator, payload } }) => {
      const members = payload as Record<string, unknown>;
      const observed = Object.keys(members).find((name) => name.startsWith('observed')) ?? '';
      const isRecord = 'previousRecordMmPerSecond' in members;
      const amount = isRecord ? members.previousRecordMmPerSecond : (members.days ?? members[observed]);
      return [reading.position, formatLine(type, discriminator, amount)];
    }),
  );
}

function sortWithinReadings(lines: readonly (readonly [position: number, line: string])[]): string[] {
  const byReading = new Map<number, string[]>();
  for (const [position, line] of lines) byReading.set(position, [...(byReading.get(position) ?? []), line]);
  return [...byReading.values()].flatMap((ofReading) => ofReading.sort());
}

const buildReading = (position: number, atMs: number, distanceMm: number, speedMmPerSecond = 0) =>
  acceptedReading({ position, observedAtMs: noon + atMs, distanceMm, speedMmPerSecond });

describe('events of the measurements', () => {
  it.each([
    [1, 0],
    [3, 1],
    [5, 2],
    [10, 3],
    [15, 4],
    [20, 5],
    [30, 6],
    [40, 7],
    [90, 12],
    [100, 13],
    [150, 14],
    [200, 15],
    [1_000, 31],
  ])('lifetime distance: %d km is reached at it and not a millimetre before', (threshold, earlier) => {
    const milestones = (distanceMm: number) =>
      formatEvents(foldReadings([buildReading(1, 0, distanceMm)])).filter((line) =>
        line.startsWith('distance_milestone'),
      );
    expect(milestones(threshold * km - 1)).toHaveLength(earlier);
    expect(milestones(threshold * km)).toHaveLength(earlier + 1);
    expect(milestones(threshold * km).join()).toContain(
      `distance_milestone ${threshold * km} ${threshold * km}`,
    );
  });

  it.each([
    [2, 556],
    [3, 834],
    [6, 1_667],
    [10, 2_778],
  ])('speed: %d km/h is reached at %d mm/s, never below', (kmPerHour, speed) => {
    const milestones = (speedMmPerSecond: number) =>
      formatEvents(foldReadings([buildReading(1, 0, 0, speedMmPerSecond)])).filter((line) =>
        line.startsWith(`speed_milestone ${speed} `),
      );
    expect(speed * 3_600).toBeGreaterThanOrEqual(kmPerHour * km);
    expect((speed - 1) * 3_600).toBeLessThan(kmPerHour * km);
    expect(milestones(speed - 1)).toEqual([]);
    expect(milestones(speed)).toHaveLength(1);
  });

  it('speed records are each at least 0.2 km/h above the last record, not above the last speed', () => {
    const speeds = [55, 56, 111, 100, 111, 112, 112, 10, 167, 168];
    const records = formatEvents(
      foldReadings(speeds.map((speed, index) => buildReading(index + 1, index, 0, speed))),
    );
    expect(records).toEqual(['speed_record 56 null', 'speed_record 112 56', 'speed_record 168 112']);
  });

  it('daily distances and streaks restart at noon, and a day without 5 km ends a streak', () => {
    const day = (index: number, distance: number) =>
      buildReading(index + 1, index * dayMs + 3_600_000, distance);
    const lines = formatEvents(
      foldReadings([
        day(0, 5 * km),
        day(1, 5 * km),
        day(2, 6 * km),
        day(3, 5 * km - 1),
        day(4, 5 * km),
        day(5, 16 * km),
      ]),
    );
    expect(lines.filter((line) => line.startsWith('distance_streak'))).toEqual([
      'distance_streak 2026-02-01 2',
      'distance_streak 2026-02-02 3',
      'distance_streak 2026-02-05 2',
    ]);
    expect(lines.filter((line) => line.includes('2026-02-05:'))).toEqual(
      [1, 10, 15, 3, 5].map((one) => `daily_distance_milestone 2026-02-05:${one * km} ${16 * km}`),
    );
    // Both sides of noon are different days, though a second apart.
    const atNoon = formatEvents(
      foldReadings([buildReading(1, dayMs - 1_000, 5 * km), buildReading(2, dayMs, 5 * km)]),
    );
    expect(atNoon).toContain('distance_streak 2026-02-01 2');
  });

  it('of a reading that jumps beyond all bounds are the highest hundred', () => {
    const events = foldReadings([buildReading(1, 0, Number.MAX_SAFE_INTEGER)])?.events.toArray() ?? [];
    const distances = events.filter(
      ({ achievement }) => achievement.type === 'measurement.distance_milestone',
    );
    expect(distances).toHaveLength(100);
    const next = foldReadings([buildReading(1, 0, Number.MAX_SAFE_INTEGER), buildReading(2, dayMs, 50 * km)]);
    expect(next?.events.size).toBe(events.length + 1 + 5 + 1);
  });

  it('are those of the definitions, for random histories', () => {
    const step = fc.record({
      gapMs: fc.oneof(fc.nat(20_000_000), fc.constantFrom(0, dayMs / 2, dayMs, 2 * dayMs)),
      distanceMm: fc.oneof(
        fc.nat(20 * km),
        fc.constantFrom(0, km - 1, km, 5 * km - 1, 5 * km, 15 * km, 90 * km, 700 * km),
      ),
      speed: fc.oneof(fc.nat(3_000), fc.constantFrom(0, 55, 56, 555, 556, 2_777, 2_778)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let atMs = 0;
        const readings = steps.map(({ gapMs, distanceMm, speed }, index) => {
          atMs += gapMs;
          return buildReading(index + 1, atMs, distanceMm, speed);
        });
        expect(formatEvents(foldReadings(readings))).toEqual(formatReached(readings));
      }),
      { numRuns: 1_000 },
    );
  });
});
