import { type DaySummary, type Peak, roundsPerDay } from '../wheel/dayHistory.ts';
import { bucketMs, roundMs } from '../wheel/roundFold.ts';
import { findIndexOfLargest, findLargest } from './arithmetic.ts';
import {
  type BucketStatistics,
  bucketsPerDay,
  type DayStatistics,
  noonBucket,
  type WindowDay,
  walkRounds,
} from './dayStatistics.ts';

type StatisticsRecord = ReturnType<typeof toRecord>;

/** The largest values of a window. Equal values count at their earliest time; a record is null if no value is above zero. */
export function findRecords(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
  isWindowComplete: boolean,
) {
  const isFull = ({ coverage }: DayStatistics) => coverage.observedRoundCount === roundsPerDay;
  const findStartMs = (index: number) => (window[index] as WindowDay).startMs;
  const ofDays = (selectAmount: (day: DayStatistics) => bigint): StatisticsRecord | null => {
    const index = findIndexOfLargest(days, selectAmount);
    if (index === null) return null;
    const day = days[index] as DayStatistics;
    return toRecord(selectAmount(day), findStartMs(index), isFull(day));
  };
  const ofPeaks = (selectPeak: (day: DaySummary) => Peak | null): StatisticsRecord | null => {
    const peaks = window.flatMap(({ summary }) => (summary === null ? null : selectPeak(summary)) ?? []);
    const peak = findLargest(peaks, ({ value }) => BigInt(value));
    return peak === null ? null : toRecord(BigInt(peak.value), peak.atMs, isWindowComplete);
  };
  return {
    mostWorkHalfHour: findMostWorkHalfHour(window, days),
    mostWorkUtcDay: ofDays(({ observedWorkUnits }) => observedWorkUnits),
    maximumDailyDistanceMm: ofDays(({ distanceMm }) => BigInt(distanceMm ?? 0)),
    peakObservedRpmMilli: ofPeaks((day) => day.peakRpmMilli),
    peakObservedSpeedMmPerSecond: ofPeaks((day) => day.peakSpeedMmPerSecond),
    longestActiveWindowMinutes: findLongestActiveWindow(window),
    longestActiveDayStreak: findLongestActiveStreak(window, days),
  };
}

function findMostWorkHalfHour(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
): StatisticsRecord | null {
  // In order of time, from noon on, so that the earliest of equal values comes first.
  const all = days.flatMap(({ buckets }, day) =>
    Array.from({ length: bucketsPerDay }, (_, index) => ({
      startMs: (window[day] as WindowDay).startMs + index * bucketMs,
      bucket: buckets[(index + noonBucket) % bucketsPerDay] as BucketStatistics,
    })),
  );
  const most = findLargest(all, ({ bucket }) => bucket.workUnits ?? 0n);
  if (most === null) return null;
  return toRecord(most.bucket.workUnits ?? 0n, most.startMs, most.bucket.coverage === 'complete');
}

/** The longest run of consecutive observed rounds with work. It is always complete. */
function findLongestActiveWindow(window: readonly WindowDay[]): StatisticsRecord | null {
  const longest = { rounds: 0, startMs: 0 };
  const run = { rounds: 0, startMs: 0 };
  for (const { startMs, workUnits } of walkRounds(window)) {
    const isActive = workUnits !== undefined && workUnits > 0n;
    if (isActive && run.rounds === 0) run.startMs = startMs;
    run.rounds = isActive ? run.rounds + 1 : 0;
    if (run.rounds > longest.rounds) Object.assign(longest, run);
  }
  return longest.rounds === 0
    ? null
    : toRecord(BigInt((longest.rounds * roundMs) / 60_000), longest.startMs, true);
}

function findLongestActiveStreak(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
): StatisticsRecord | null {
  const best = { length: 0, end: 0 };
  let length = 0;
  for (const [index, { observedWorkUnits }] of days.entries()) {
    length = observedWorkUnits > 0n ? length + 1 : 0;
    if (length > best.length) Object.assign(best, { length, end: index + 1 });
  }
  if (best.length === 0) return null;
  const first = best.end - best.length;
  const isComplete = days
    .slice(first, best.end)
    .every(({ coverage }) => coverage.observedRoundCount === roundsPerDay);
  return toRecord(BigInt(best.length), (window[first] as WindowDay).startMs, isComplete);
}

function toRecord(value: bigint, occurredAtMs: number, isComplete: boolean) {
  return { value, occurredAtMs, coverage: isComplete ? ('complete' as const) : ('partial' as const) };
}
