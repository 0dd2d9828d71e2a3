import { dayMs } from '../schemas/durations.ts';
import {
  type DayHistory,
  type DaySummary,
  findDay,
  findDayStart,
  roundsPerDay,
} from '../wheel/dayHistory.ts';
import { roundMs } from '../wheel/roundFold.ts';
import {
  computeBps,
  computeMedian,
  findLargest,
  findP90,
  fullBps,
  sortAscending,
  sum,
} from './arithmetic.ts';
import {
  type BucketStatistics,
  bucketMinutes,
  bucketsPerDay,
  computeDay,
  type DayStatistics,
  findExpectedPlaces,
  noRounds,
  selectEndedRounds,
  sumEndedRounds,
  type WindowDay,
  walkRounds,
} from './dayStatistics.ts';
import { findRecords } from './records.ts';

export const statisticsRanges = ['7d', '30d'] as const;

export type StatisticsRange = (typeof statisticsRanges)[number];

const dayCounts = { '7d': 7, '30d': 30 } as const satisfies Record<StatisticsRange, number>;

/** The statistics of one installation over a range (CONTRACT.md, Terms of the statistics). Averages are floored. */
export type Statistics = Readonly<ReturnType<typeof computeStatistics>>;

interface StatisticsInput {
  /** Null before the first reading. */
  readonly history: DayHistory | null;
  readonly genesisMs: number;
  /** End of the window (epoch milliseconds). */
  readonly generatedAtMs: number;
  /** {@link sumDays} of past days, which are many after years; a caller may remember it for each list. */
  readonly sumPast?: typeof sumDays;
}

export function computeStatistics(range: StatisticsRange, input: StatisticsInput) {
  const { history, genesisMs, generatedAtMs } = input;
  const dayCount = dayCounts[range];
  const windowStartMs = findDayStart(generatedAtMs) - (dayCount - 1) * dayMs;
  const window = Array.from({ length: dayCount }, (_, index): WindowDay => {
    const startMs = windowStartMs + index * dayMs;
    const day = findDay(history, startMs);
    const rounds = day === null ? noRounds : selectEndedRounds(day, generatedAtMs);
    return { startMs, summary: day, rounds, ...findExpectedPlaces(startMs, genesisMs, generatedAtMs) };
  });
  const days = window.map((day) => computeDay(day, generatedAtMs));
  const expectedRoundCount = sum(days, ({ coverage }) => coverage.expectedRoundCount);
  const observedRoundCount = sum(days, ({ coverage }) => coverage.observedRoundCount);
  const coverageBps = computeBps(observedRoundCount, expectedRoundCount);
  const typicalDay = computeTypicalDay(days);
  return {
    range,
    generatedAtMs,
    windowStartMs,
    dayCount,
    lifetime: summarizeLifetime(input),
    coverage: {
      expectedRoundCount,
      observedRoundCount,
      coverageBps,
      complete: coverageBps === Number(fullBps),
    },
    summary: summarizeDays(days, typicalDay),
    days,
    typicalDay,
    records: findRecords(window, days, coverageBps === Number(fullBps)),
    rounds: summarizeRounds(window, expectedRoundCount),
  };
}

function summarizeLifetime({ history, genesisMs, generatedAtMs, sumPast = sumDays }: StatisticsInput) {
  if (history === null) {
    const nothing = { acceptedWorkUnits: 0n, observedDistanceMm: 0n, activeDayCount: 0, coverageBps: 0 };
    return { ...nothing, firstObservedAtMs: null };
  }
  const { firstObservedAtMs, past, open } = history;
  // Days of a device whose clock is ahead may not have begun, or not have ended.
  const cut = (days: readonly DaySummary[]) =>
    days
      .filter(({ startMs }) => startMs <= generatedAtMs)
      .map((day) => ({ ...day, ...sumEndedRounds(day, generatedAtMs) }));
  const hasPastEnded = (past.at(-1)?.startMs ?? 0) + dayMs <= generatedAtMs;
  const closed = hasPastEnded ? sumPast(past) : sumDays(cut(past));
  const last = sumDays(cut([open]));
  // Counts from the round of the first reading, or from round 1 if that reading was before the genesis.
  const firstRound = Math.max(0, Math.floor((firstObservedAtMs - genesisMs) / roundMs));
  const endedRoundCount = Math.max(0, Math.floor((generatedAtMs - genesisMs) / roundMs));
  return {
    acceptedWorkUnits: closed.workUnits + last.workUnits,
    observedDistanceMm: closed.distanceMm + last.distanceMm,
    activeDayCount: closed.activeDayCount + last.activeDayCount,
    coverageBps: computeBps(
      closed.observedRoundCount + last.observedRoundCount,
      Math.max(0, endedRoundCount - firstRound),
    ),
    firstObservedAtMs,
  };
}

/** Sums of days that have ended. */
export function sumDays(days: readonly DaySummary[]) {
  return {
    workUnits: days.reduce((total, { workUnits }) => total + workUnits, 0n),
    distanceMm: days.reduce((total, { distanceMm }) => total + BigInt(distanceMm ?? 0), 0n),
    activeDayCount: days.filter(({ workUnits }) => workUnits > 0n).length,
    observedRoundCount: sum(days, ({ observedRoundCount }) => observedRoundCount),
  };
}

function summarizeDays(days: readonly DayStatistics[], typicalDay: ReturnType<typeof computeTypicalDay>) {
  const active = days.filter(({ observedWorkUnits }) => observedWorkUnits > 0n);
  const observedWorkUnits = days.reduce((total, day) => total + day.observedWorkUnits, 0n);
  const count = BigInt(active.length);
  const activeDistance = active.reduce((total, { distanceMm }) => total + BigInt(distanceMm ?? 0), 0n);
  const activeWork = active.map((day) => day.observedWorkUnits);
  const most = findLargest(active, (day) => day.observedWorkUnits);
  const peak = findLargest(typicalDay, ({ meanWorkMilli }) => meanWorkMilli ?? 0n);
  return {
    observedWorkUnits,
    observedDistanceMm: days.reduce((total, { distanceMm }) => total + BigInt(distanceMm ?? 0), 0n),
    activeDayCount: active.length,
    inactiveDayCount: days.filter(
      ({ coverage, observedWorkUnits: work }) => coverage.observedRoundCount === roundsPerDay && work === 0n,
    ).length,
    averageWorkPerActiveDayMilli: count === 0n ? null : (observedWorkUnits * 1000n) / count,
    medianWorkPerActiveDay: computeMedian(activeWork),
    averageDistancePerActiveDayMm: count === 0n ? null : activeDistance / count,
    mostActiveDate: most?.date ?? null,
    mostActiveDateWorkUnits: most?.observedWorkUnits ?? null,
    peakWindowStartMinuteUtc: peak?.startMinuteUtc ?? null,
  };
}

function computeTypicalDay(days: readonly DayStatistics[]) {
  return Array.from({ length: bucketsPerDay }, (_, clock) => {
    const complete = days.flatMap(({ buckets }) => {
      const bucket = buckets[clock] as BucketStatistics;
      return bucket.coverage === 'complete' ? [bucket.workUnits ?? 0n] : [];
    });
    const totalWorkUnits = complete.reduce((total, work) => total + work, 0n);
    return {
      startMinuteUtc: clock * bucketMinutes,
      totalWorkUnits,
      observedDayCount: complete.length,
      meanWorkMilli: complete.length === 0 ? null : (totalWorkUnits * 1000n) / BigInt(complete.length),
    };
  });
}

function summarizeRounds(window: readonly WindowDay[], expectedRoundCount: number) {
  const observed = [...walkRounds(window)].flatMap(({ workUnits }) =>
    workUnits === undefined ? [] : [workUnits],
  );
  const active = sortAscending(observed.filter((work) => work > 0n));
  const total = active.reduce((sumOfWork, work) => sumOfWork + work, 0n);
  return {
    observedCount: observed.length,
    activeCount: active.length,
    zeroWorkCount: observed.length - active.length,
    missingCount: expectedRoundCount - observed.length,
    activeRateBps: computeBps(active.length, observed.length),
    averageActiveWorkMilli: active.length === 0 ? null : (total * 1000n) / BigInt(active.length),
    medianActiveWork: computeMedian(active),
    p90ActiveWork: findP90(active),
    mostActiveWork: active.at(-1) ?? null,
  };
}
