import type { z } from 'zod';
import type { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { dayMs, sum, toDate, toIso } from './messages.ts';
import { findDay, type Reading } from './readings.ts';
import { rememberFor } from './remember.ts';

/** CONTRACT.md, Event types and Emission conditions: records and distances of readings. */

export type FeedEvent = z.infer<typeof feedEvent>;
type MeasurementEvent = Extract<FeedEvent, { eventVersion: 1 }>;
type Reached<Event = MeasurementEvent> = Event extends { type: infer Type; payload: infer Payload }
  ? { readonly type: Type; readonly discriminator: string; readonly payload: Payload }
  : never;

/** An example of each type: its payload, and what a page says of it, with its links. */
export type EventExamples<Type extends FeedEvent['type']> = {
  readonly [Of in Type]: readonly [
    payload: Extract<FeedEvent, { type: Of }>['payload'],
    said: string,
    links?: string,
  ];
};

/** The types in their order in the contract; `measurement.rpm_record` is only in the schema. */
export const measurementExamples: EventExamples<Exclude<MeasurementEvent['type'], 'measurement.rpm_record'>> =
  {
    'measurement.distance_milestone': [
      { thresholdDistanceMm: '1000000', observedLifetimeDistanceMm: '1000001' },
      'Distance: The wheel has run 1\u00a0km in total.',
    ],
    'measurement.daily_distance_milestone': [
      { thresholdDistanceMm: '500000', observedDayDistanceMm: '500001', utcDate: '2026-11-22' },
      'Distance of a day: The wheel has run 500\u00a0m on the day of 22 Nov 2026.',
      '/days/2026-11-22',
    ],
    'measurement.speed_milestone': [
      { thresholdSpeedMmPerSecond: '1000', observedSpeedMmPerSecond: '1001' },
      'Speed: The wheel has reached 3.6\u00a0km/h for the first time.',
    ],
    'measurement.speed_record': [
      { recordMmPerSecond: '2000', previousRecordMmPerSecond: '1000', observedSpeedMmPerSecond: '2000' },
      'Speed record: The fastest so far: 7.2\u00a0km/h, 3.6\u00a0km/h before.',
    ],
    'measurement.distance_streak': [
      { days: 3, minimumDailyDistanceMm: '2000000', endingUtcDate: '2026-11-22' },
      'Streak: 3 days in a row with at least 2\u00a0km, the last on 22 Nov 2026.',
      '/days/2026-11-22',
    ],
  };

const kmInMm = 1_000_000;
const lifetimeKm = [1, 3, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const dayKm = [1, 3, 5, 10, 15];
/** 2, 3, 6 and 10 km/h, each the next whole mm/s. */
const speeds = [556, 834, 1_667, 2_778];
/** 0.2 km/h, rounded up. */
const recordStep = 56;
const streakMm = 5 * kmInMm;

/** Records and distances that each accepted reading of an installation reached first, in order. */
export function listReached(readings: readonly Reading[]): { reading: Reading; reached: Reached }[] {
  const days = new Map<number, number>();
  let topSpeed = 0;
  let record: number | null = null;
  return readings.flatMap((reading) => {
    const reached: Reached[] = [];
    const day = findDay(reading.observedAtMs);
    const lifetimeBefore = sum([...days.values()].map(BigInt));
    const dayBefore = days.get(day) ?? 0;
    days.set(day, Math.max(dayBefore, reading.distanceMm));
    const lifetime = sum([...days.values()].map(BigInt));
    const distance = days.get(day) as number;

    for (const threshold of listMilestones(lifetimeBefore, lifetime)) {
      reached.push({
        type: 'measurement.distance_milestone',
        discriminator: String(threshold),
        payload: { thresholdDistanceMm: String(threshold), observedLifetimeDistanceMm: String(lifetime) },
      });
    }
    for (const threshold of dayKm.map((km) => km * kmInMm)) {
      if (dayBefore >= threshold || distance < threshold) continue;
      reached.push({
        type: 'measurement.daily_distance_milestone',
        discriminator: `${toDate(day)}:${threshold}`,
        payload: {
          thresholdDistanceMm: String(threshold),
          observedDayDistanceMm: String(distance),
          utcDate: toDate(day),
        },
      });
    }
    const speed = reading.speedMmPerSecond;
    for (const threshold of speeds) {
      if (topSpeed >= threshold || speed < threshold) continue;
      reached.push({
        type: 'measurement.speed_milestone',
        discriminator: String(threshold),
        payload: { thresholdSpeedMmPerSecond: String(threshold), observedSpeedMmPerSecond: String(speed) },
      });
    }
    topSpeed = Math.max(topSpeed, speed);
    if (speed >= (record ?? 0) + recordStep) {
      reached.push({
        type: 'measurement.speed_record',
        discriminator: String(speed),
        payload: {
          previousRecordMmPerSecond: record === null ? null : String(record),
          recordMmPerSecond: String(speed),
          observedSpeedMmPerSecond: String(speed),
        },
      });
      record = speed;
    }
    if (dayBefore < streakMm && distance >= streakMm) {
      let count = 1;
      while ((days.get(day - count * dayMs) ?? 0) >= streakMm) count++;
      if (count >= 2 && count <= 3_650)
        reached.push({
          type: 'measurement.distance_streak',
          discriminator: toDate(day),
          payload: {
            days: count,
            minimumDailyDistanceMm: String(streakMm),
            endingUtcDate: toDate(day),
          },
        });
    }
    return reached.map((one) => ({ reading, reached: one }));
  });
}

/** Lifetime milestones above one distance and up to another, in millimetres: the highest hundred. */
function listMilestones(before: bigint, after: bigint): bigint[] {
  const step = 50n * BigInt(kmInMm);
  const found: bigint[] = [];
  for (let one = (after / step) * step; one > before && one >= 3n * step && found.length < 100; one -= step)
    found.push(one);
  const first = lifetimeKm.map((km) => BigInt(km * kmInMm)).filter((one) => one > before && one <= after);
  return [...first, ...found.reverse()].slice(-100);
}

/** The events of one installation as the feed shows them, in the order of their readings. */
export const buildMeasurementEvents = rememberFor((readings: readonly Reading[]): MeasurementEvent[] =>
  listReached(readings).map(({ reading, reached: { discriminator, ...reached } }) => {
    const [occurredAt, recordedAt] = [toIso(reading.observedAtMs), toIso(reading.receivedAtMs)];
    return {
      id: `measurement:${reading.installationId}:measurement-v1:${reached.type}:${discriminator}`,
      eventVersion: 1,
      occurredAt,
      recordedAt,
      source: {
        kind: 'measurement',
        installationId: reading.installationId,
        receiptCursor: String(reading.position),
        telemetryId: reading.telemetryId,
        observedAt: occurredAt,
        receivedAt: recordedAt,
        policyVersion: 'measurement-v1',
        disposition: 'accepted',
      },
      ...reached,
    } as MeasurementEvent;
  }),
);
