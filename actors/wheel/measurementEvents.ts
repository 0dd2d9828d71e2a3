import { List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import type { Achievement, MeasurementEvent } from '../events/eventSchemas.ts';
import { type EventWindow, nothingEvicted } from '../events/eventWindow.ts';
import { dayMs } from '../schemas/durations.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import type { CounterReading } from './counterReading.ts';
import { findDayStart, formatDayLabel } from './dayHistory.ts';

/** Version of the rules below. IDs of events contain it, since other rules would make other events from the same readings. */
export const measurementPolicyVersion = 'measurement-v1';

const kilometreMm = 1_000_000;
const secondsOfHour = 3_600;
/** Lifetime distances (CONTRACT.md, Emission conditions). After them, every 50 km counts. */
const firstDistancesMm = [1, 3, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100].map((km) =>
  BigInt(km * kilometreMm),
);
const laterDistancesMm = BigInt(50 * kilometreMm);
const dailyDistancesMm = [1, 3, 5, 10, 15].map((km) => km * kilometreMm);
/** Distance that each day of a streak reaches. It is one of the daily distances. */
export const streakDistanceMm = 5 * kilometreMm;
const streakDaysMax = 3_650;
/** Rounded up to whole millimetres per second, since an event must not fire below its speed. */
const speedsMm = [2, 3, 6, 10].map((km) => Math.ceil((km * kilometreMm) / secondsOfHour));
const recordStepMm = Math.ceil(kilometreMm / 5 / secondsOfHour);
/** Maximum number of lifetime distances reported per reading; the highest ones count. A counter may jump by any distance. */
const distancesOfReadingMax = 100;

/** State of the rules for one installation, without its events. */
export const progressScalars = z.strictObject({
  /** Sum of the distances of all days before the day of the newest reading. */
  earlierDaysMm: amount,
  dayStartMs: milliseconds,
  nextDistanceMm: amount,
  /** Numbers of daily distances and speeds that are reached. */
  dailyReached: count,
  speedsReached: count,
  recordMm: count.nullable(),
  /** Last day of the newest streak, and the number of its days so far. */
  streakDayMs: milliseconds.nullable(),
  streakDays: count,
});

/** State of the rules for one installation. Immutable, and the same object until the next achievement. */
export interface MeasurementProgress
  extends EventWindow<MeasurementEvent>,
    Inferred<typeof progressScalars> {}

const nothingYet: MeasurementProgress = {
  earlierDaysMm: 0n,
  dayStartMs: Number.NEGATIVE_INFINITY,
  nextDistanceMm: findNextDistance(0n),
  dailyReached: 0,
  speedsReached: 0,
  recordMm: null,
  streakDayMs: null,
  streakDays: 0,
  events: List(),
  evicted: nothingEvicted,
};

interface ReadingContext {
  /** Largest distance of the reading's day, including this reading. */
  readonly dayMm: number;
  /** Distance of the previous reading's day. */
  readonly previousDayMm: number;
  /** When the stream stored the reading (epoch milliseconds). */
  readonly storedAtMs: number;
}

/** Values of a reading that the rules compare with the progress. */
interface Seen {
  readonly dayMm: number;
  readonly speedMmPerSecond: number;
}

/** One kind of achievement. Rules see the same progress, and each changes members of its own. */
interface Rule {
  /** Whether a reading reaches something new. Asked for each reading. */
  readonly isReached: (progress: MeasurementProgress, seen: Seen) => boolean;
  readonly reach: (progress: MeasurementProgress, seen: Seen) => Reached;
}

interface Reached {
  readonly achievements: readonly Achievement[];
  readonly change: Partial<MeasurementProgress>;
}

const lifetimeDistances: Rule = {
  isReached: ({ nextDistanceMm, earlierDaysMm }, { dayMm }) =>
    Number(nextDistanceMm - earlierDaysMm) <= dayMm,
  reach: ({ nextDistanceMm, earlierDaysMm }, { dayMm }) => {
    const observed = earlierDaysMm + BigInt(dayMm);
    return {
      achievements: listDistances(nextDistanceMm, observed).map((threshold) => ({
        type: 'measurement.distance_milestone',
        threshold,
        observed,
      })),
      change: { nextDistanceMm: findNextDistance(observed) },
    };
  },
};

const dailyDistances: Rule = {
  isReached: ({ dailyReached }, { dayMm }) => isThrough(dailyDistancesMm, dailyReached, dayMm),
  reach: ({ dailyReached, dayStartMs }, { dayMm: observed }) => {
    const reached = listThrough(dailyDistancesMm, dailyReached, observed);
    const utcDate = formatDayLabel(dayStartMs);
    return {
      achievements: reached.map((threshold) => ({
        type: 'measurement.daily_distance_milestone',
        threshold,
        observed,
        utcDate,
      })),
      change: { dailyReached: dailyReached + reached.length },
    };
  },
};

const speeds: Rule = {
  isReached: ({ speedsReached }, seen) => isThrough(speedsMm, speedsReached, seen.speedMmPerSecond),
  reach: ({ speedsReached }, { speedMmPerSecond: observed }) => {
    const reached = listThrough(speedsMm, speedsReached, observed);
    return {
      achievements: reached.map((threshold) => ({
        type: 'measurement.speed_milestone',
        threshold,
        observed,
      })),
      change: { speedsReached: speedsReached + reached.length },
    };
  },
};

const speedRecords: Rule = {
  isReached: ({ recordMm }, { speedMmPerSecond }) => speedMmPerSecond >= (recordMm ?? 0) + recordStepMm,
  reach: ({ recordMm: previous }, { speedMmPerSecond: observed }) => ({
    achievements: [{ type: 'measurement.speed_record', previous, observed }],
    change: { recordMm: observed },
  }),
};

const streaks: Rule = {
  isReached: ({ dailyReached }, { dayMm }) =>
    dailyReached <= dailyDistancesMm.indexOf(streakDistanceMm) && dayMm >= streakDistanceMm,
  reach: (progress) => {
    const { streakDayMs, dayStartMs } = progress;
    const isNextDay = streakDayMs !== null && dayStartMs - streakDayMs === dayMs;
    const days = isNextDay ? progress.streakDays + 1 : 1;
    const isShown = days >= 2 && days <= streakDaysMax;
    return {
      achievements: isShown
        ? [{ type: 'measurement.distance_streak', days, endingUtcDate: formatDayLabel(dayStartMs) }]
        : [],
      change: { streakDayMs: dayStartMs, streakDays: days },
    };
  },
};

const rules: readonly Rule[] = [lifetimeDistances, dailyDistances, speeds, speedRecords, streaks];

/** Whether a value reaches the first of the thresholds that is not reached yet. */
function isThrough(thresholds: readonly number[], reached: number, value: number): boolean {
  const next = thresholds[reached];
  return next !== undefined && next <= value;
}

function listThrough(thresholds: readonly number[], reached: number, value: number): number[] {
  return thresholds.slice(reached).filter((threshold) => threshold <= value);
}

/** Applies the rules to a reading. The progress is the same object if the reading reaches nothing on the same day. */
export function addAchievements(
  previous: MeasurementProgress | null,
  reading: CounterReading,
  { dayMm, previousDayMm, storedAtMs }: ReadingContext,
): MeasurementProgress {
  const dayStartMs = findDayStart(reading.observedAtMs);
  const known = previous ?? nothingYet;
  const before = dayStartMs === known.dayStartMs ? known : withDay(known, dayStartMs, previousDayMm);
  const seen: Seen = { dayMm, speedMmPerSecond: reading.speedMmPerSecond };
  if (!rules.some(({ isReached }) => isReached(before, seen))) return before;
  const reached = rules
    .filter((rule) => rule.isReached(before, seen))
    .map((rule) => rule.reach(before, seen));
  const events = listEvents(
    reached.flatMap(({ achievements }) => achievements),
    reading,
    storedAtMs,
  );
  let progress: MeasurementProgress = { ...before, events: before.events.concat(events) };
  for (const { change } of reached) progress = { ...progress, ...change };
  return progress;
}

function withDay(
  progress: MeasurementProgress,
  dayStartMs: number,
  previousDayMm: number,
): MeasurementProgress {
  const earlierDaysMm = progress.earlierDaysMm + BigInt(previousDayMm);
  return { ...progress, earlierDaysMm, dayStartMs, dailyReached: 0 };
}

/** The first of the lifetime distances that is longer than this one. */
function findNextDistance(afterMm: bigint): bigint {
  const first = firstDistancesMm.find((distance) => distance > afterMm);
  return first ?? (afterMm / laterDistancesMm + 1n) * laterDistancesMm;
}

/** Lifetime distances from `next` through `lifetimeMm`, the highest ones if they are many. */
function listDistances(next: bigint, lifetimeMm: bigint): bigint[] {
  const lowest = findNextDistance(lifetimeMm - BigInt(distancesOfReadingMax) * laterDistancesMm);
  const reached: bigint[] = [];
  for (let mm = next > lowest ? next : lowest; mm <= lifetimeMm; mm = findNextDistance(mm)) reached.push(mm);
  return reached.slice(-distancesOfReadingMax);
}

/** Events of one reading. The event with the smallest ID is the newest, since the feed shows it first. */
function listEvents(
  achievements: readonly Achievement[],
  { installationId, position, telemetryId, observedAtMs, receivedAtMs }: CounterReading,
  arrivedAtMs: number,
): MeasurementEvent[] {
  const at = { installationId, position, telemetryId, observedAtMs, receivedAtMs, arrivedAtMs };
  return achievements
    .map((achievement) => ({ achievement, id: buildMeasurementId(installationId, achievement) }))
    .sort((one, other) => (one.id < other.id ? 1 : -1))
    .map(({ achievement }, ordinal) => ({ family: 'measurement', achievement, ...at, ordinal }));
}

/** The event's ID (CONTRACT.md, Event types). */
export function buildMeasurementId(installationId: string, achievement: Achievement): string {
  return `measurement:${installationId}:${measurementPolicyVersion}:${achievement.type}:${formatDiscriminator(achievement)}`;
}

/** Part of the ID that distinguishes events of one type. */
function formatDiscriminator(achievement: Achievement): string {
  switch (achievement.type) {
    case 'measurement.distance_milestone':
    case 'measurement.speed_milestone':
      return String(achievement.threshold);
    case 'measurement.daily_distance_milestone':
      return `${achievement.utcDate}:${achievement.threshold}`;
    case 'measurement.speed_record':
      return String(achievement.observed);
    case 'measurement.distance_streak':
      return achievement.endingUtcDate;
  }
}
