import { findDay, type Reading } from './acceptedReadings.ts';
import { dayMs, sum, toDate, toIso } from './messages.ts';
import { rememberFor } from './remember.ts';

/** CONTRACT.md, Event types and Emission conditions: records and distances of readings. */

const kmInMm = 1_000_000;
const lifetimeKm = [1, 3, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const dayKm = [1, 3, 5, 10, 15];
/** 2, 3, 6 and 10 km/h, each the next whole mm/s. */
const speeds = [556, 834, 1_667, 2_778];
/** 0.2 km/h, rounded up. */
const recordStep = 56;
const streakMm = 5 * kmInMm;

/** The events of one installation as the feed shows them: what each accepted reading reached first, in order. */
export const buildMeasurementEvents = rememberFor((readings: readonly Reading[]) => {
  const days = new Map<number, number>();
  let topSpeed = 0;
  let record: number | null = null;
  return readings.flatMap((reading) => {
    const [occurredAt, recordedAt] = [toIso(reading.observedAtMs), toIso(reading.receivedAtMs)];
    const receiptCursor = String(reading.position);
    const source = { receiptCursor, observedAt: occurredAt, receivedAt: recordedAt };
    const describe = (name: string, discriminator: string, payload: Readonly<Record<string, unknown>>) => {
      const type = `measurement.${name}`;
      const id = `measurement:${reading.installationId}:measurement-v1:${type}:${discriminator}`;
      return { id, type, occurredAt, recordedAt, source, payload };
    };
    const events: ReturnType<typeof describe>[] = [];
    const day = findDay(reading.observedAtMs);
    const lifetimeBefore = sum([...days.values()].map(BigInt));
    const dayBefore = days.get(day) ?? 0;
    days.set(day, Math.max(dayBefore, reading.distanceMm));
    const lifetime = sum([...days.values()].map(BigInt));
    const distance = days.get(day) as number;

    for (const threshold of listMilestones(lifetimeBefore, lifetime)) {
      const payload = { thresholdDistanceMm: threshold, observedLifetimeDistanceMm: lifetime };
      events.push(describe('distance_milestone', String(threshold), payload));
    }
    const utcDate = toDate(day);
    for (const threshold of dayKm.map((km) => km * kmInMm)) {
      if (dayBefore >= threshold || distance < threshold) continue;
      const [thresholdDistanceMm, observedDayDistanceMm] = [String(threshold), String(distance)];
      const payload = { thresholdDistanceMm, observedDayDistanceMm, utcDate };
      events.push(describe('daily_distance_milestone', `${utcDate}:${threshold}`, payload));
    }
    const speed = reading.speedMmPerSecond;
    const observedSpeedMmPerSecond = String(speed);
    for (const threshold of speeds.map(String)) {
      if (topSpeed >= Number(threshold) || speed < Number(threshold)) continue;
      const payload = { thresholdSpeedMmPerSecond: threshold, observedSpeedMmPerSecond };
      events.push(describe('speed_milestone', threshold, payload));
    }
    topSpeed = Math.max(topSpeed, speed);
    if (speed >= (record ?? 0) + recordStep) {
      const previousRecordMmPerSecond = record === null ? null : String(record);
      const speeds = { recordMmPerSecond: String(speed), observedSpeedMmPerSecond };
      events.push(describe('speed_record', String(speed), { previousRecordMmPerSecond, ...speeds }));
      record = speed;
    }
    if (dayBefore < streakMm && distance >= streakMm) {
      let count = 1;
      while ((days.get(day - count * dayMs) ?? 0) >= streakMm) count++;
      const payload = { days: count, minimumDailyDistanceMm: String(streakMm), endingUtcDate: utcDate };
      if (count >= 2 && count <= 3_650) events.push(describe('distance_streak', utcDate, payload));
    }
    return events;
  });
});

/** Lifetime milestones above one distance and up to another, in millimetres: the highest hundred. */
function listMilestones(before: bigint, after: bigint): bigint[] {
  const step = 50n * BigInt(kmInMm);
  const found: bigint[] = [];
  for (let one = (after / step) * step; one > before && one >= 3n * step && found.length < 100; one -= step)
    found.push(one);
  const first = lifetimeKm.map((km) => BigInt(km * kmInMm)).filter((one) => one > before && one <= after);
  return [...first, ...found.reverse()].slice(-100);
}
