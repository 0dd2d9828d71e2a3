import { findDay, type Reading } from './acceptedReadings.ts';
import { dayMs, sum, toDate, toIso } from './messages.ts';
import { rememberFor } from './remember.ts';

/** CONTRACT.md, Event types and Emission conditions: records and distances of readings. */

interface Reached {
  readonly type: string;
  readonly discriminator: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

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
        payload: { thresholdDistanceMm: threshold, observedLifetimeDistanceMm: lifetime },
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
export const buildMeasurementEvents = rememberFor((readings: readonly Reading[]) =>
  listReached(readings).map(({ reading, reached: { discriminator, type, payload } }) => {
    const [occurredAt, recordedAt] = [toIso(reading.observedAtMs), toIso(reading.receivedAtMs)];
    return {
      id: `measurement:${reading.installationId}:measurement-v1:${type}:${discriminator}`,
      type,
      occurredAt,
      recordedAt,
      source: { receiptCursor: String(reading.position), observedAt: occurredAt, receivedAt: recordedAt },
      payload,
    };
  }),
);
