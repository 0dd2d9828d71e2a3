import type { AcceptedReading } from '../../../actors/wheel/acceptedReading.ts';

/**
 * What readings reach, straight from CONTRACT.md, Emission conditions, and slowly: everything is computed again for each reading. As
 * `type discriminator observed`, in the order of the readings and sorted within one.
 */
export function plainAchievements(readings: readonly AcceptedReading[]): string[] {
  const formatDay = (atMs: number) => new Date(atMs - 43_200_000).toISOString().slice(0, 10);
  const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  const distancesUpTo = (count: number) => {
    const days = new Map<string, number>();
    for (const { observedAtMs, distanceMm } of readings.slice(0, count)) {
      const day = formatDay(observedAtMs);
      days.set(day, Math.max(days.get(day) ?? 0, distanceMm));
    }
    return days;
  };
  const addDays = (days: Map<string, number>) =>
    [...days.values()].reduce((sum, one) => sum + BigInt(one), 0n);
  const lifetimeKm = [1, 3, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100];
  for (let km = 150; km <= 4_000; km += 50) lifetimeKm.push(km);

  const found: string[] = [];
  let record: number | null = null;
  for (let index = 0; index < readings.length; index++) {
    const reading = readings[index] as AcceptedReading;
    const speed = reading.speedMmPerSecond;
    const day = formatDay(reading.observedAtMs);
    const [before, after] = [distancesUpTo(index), distancesUpTo(index + 1)];
    const [lifetimeBefore, lifetime] = [addDays(before), addDays(after)];
    const [distanceBefore, distance] = [before.get(day) ?? 0, after.get(day) ?? 0];
    const topBefore = Math.max(0, ...readings.slice(0, index).map((one) => one.speedMmPerSecond));
    const events: string[] = [];
    for (const km of lifetimeKm) {
      const mm = BigInt(km) * 1_000_000n;
      if (lifetimeBefore < mm && lifetime >= mm) events.push(`distance_milestone ${mm} ${lifetime}`);
    }
    for (const km of [1, 3, 5, 10, 15]) {
      const mm = km * 1_000_000;
      if (distanceBefore < mm && distance >= mm)
        events.push(`daily_distance_milestone ${day}:${mm} ${distance}`);
    }
    const mmOfHour = (mmOfSecond: number) => mmOfSecond * 3_600;
    for (const km of [2, 3, 6, 10]) {
      const isReached = mmOfHour(speed) >= km * 1_000_000 && mmOfHour(topBefore) < km * 1_000_000;
      if (isReached) events.push(`speed_milestone ${Math.ceil((km * 1_000_000) / 3_600)} ${speed}`);
    }
    if (mmOfHour(speed) - mmOfHour(record ?? 0) >= 200_000) {
      events.push(`speed_record ${speed} ${record}`);
      record = speed;
    }
    if (distanceBefore < 5_000_000 && distance >= 5_000_000) {
      let days = 1;
      for (let one = dayBefore(day); (after.get(one) ?? 0) >= 5_000_000; one = dayBefore(one)) days++;
      if (days >= 2) events.push(`distance_streak ${day} ${days}`);
    }
    found.push(...events.sort());
  }
  return found;
}
