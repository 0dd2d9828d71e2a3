import { roundMs } from '../wheel/roundFold.ts';
import {
  type DayHistory,
  type DaySummary,
  dayMs,
  findDayStart,
  formatDayLabel,
  type Peak,
  roundsPerDay,
} from './dayHistory.ts';

export const statisticsRanges = ['7d', '30d'] as const;
export type StatisticsRange = (typeof statisticsRanges)[number];

const dayCounts = { '7d': 7, '30d': 30 } as const satisfies Record<StatisticsRange, number>;
const bucketsPerDay = 48;
const roundsPerBucket = 3;
const bucketMinutes = 30;
const bucketMs = bucketMinutes * 60_000;
/** The first bucket of a day begins at noon: in clock order it is the twenty-fifth. */
const noonBucket = bucketsPerDay / 2;
const fullBps = 10_000n;

export const bucketCoverages = ['complete', 'partial', 'missing', 'future'] as const;
export type BucketCoverage = (typeof bucketCoverages)[number];

export interface Coverage {
  readonly expectedRoundCount: number;
  readonly observedRoundCount: number;
  readonly coverageBps: number;
}

export interface BucketStatistics {
  readonly startMinuteUtc: number;
  readonly coverage: BucketCoverage;
  readonly observedRoundCount: number;
  /** Null for a missing or future bucket. */
  readonly workUnits: bigint | null;
}

export interface DayStatistics {
  readonly date: string;
  readonly coverage: Coverage;
  readonly observedWorkUnits: bigint;
  readonly distanceMm: number | null;
  /** In clock order, from midnight: the first half lies on the calendar date after `date`. */
  readonly buckets: readonly BucketStatistics[];
}

export interface TypicalBucket {
  readonly startMinuteUtc: number;
  readonly totalWorkUnits: bigint;
  readonly observedDayCount: number;
  readonly meanWorkMilli: bigint | null;
}

export interface StatisticsRecord {
  readonly value: bigint;
  readonly occurredAtMs: number;
  readonly coverage: 'complete' | 'partial';
}

/** The statistics of one installation over a range (CONTRACT.md, Terms of the statistics). Averages are floored. */
export interface Statistics {
  readonly range: StatisticsRange;
  readonly generatedAtMs: number;
  readonly windowStartMs: number;
  readonly dayCount: (typeof dayCounts)[StatisticsRange];
  readonly lifetime: {
    readonly acceptedWorkUnits: bigint;
    readonly observedDistanceMm: bigint;
    readonly activeDayCount: number;
    readonly coverageBps: number;
    readonly firstObservedAtMs: number | null;
  };
  readonly coverage: Coverage & { readonly complete: boolean };
  readonly summary: {
    readonly observedWorkUnits: bigint;
    readonly observedDistanceMm: bigint;
    readonly activeDayCount: number;
    readonly inactiveDayCount: number;
    readonly averageWorkPerActiveDayMilli: bigint | null;
    readonly medianWorkPerActiveDay: bigint | null;
    readonly averageDistancePerActiveDayMm: bigint | null;
    readonly mostActiveDate: string | null;
    readonly mostActiveDateWorkUnits: bigint | null;
    readonly peakWindowStartMinuteUtc: number | null;
  };
  readonly days: readonly DayStatistics[];
  readonly typicalDay: readonly TypicalBucket[];
  readonly records: {
    readonly mostWorkHalfHour: StatisticsRecord | null;
    readonly mostWorkUtcDay: StatisticsRecord | null;
    readonly maximumDailyDistanceMm: StatisticsRecord | null;
    readonly peakObservedRpmMilli: StatisticsRecord | null;
    readonly peakObservedSpeedMmPerSecond: StatisticsRecord | null;
    readonly longestActiveWindowMinutes: StatisticsRecord | null;
    readonly longestActiveDayStreak: StatisticsRecord | null;
  };
  readonly rounds: {
    readonly observedCount: number;
    readonly activeCount: number;
    readonly zeroWorkCount: number;
    readonly missingCount: number;
    readonly activeRateBps: number;
    readonly averageActiveWorkMilli: bigint | null;
    readonly medianActiveWork: bigint | null;
    readonly p90ActiveWork: bigint | null;
    readonly mostActiveWork: bigint | null;
  };
}

/** A day of the window with what was accepted in it. */
interface WindowDay {
  readonly startMs: number;
  readonly summary: DaySummary | null;
  /** Places of the rounds that are expected: those from the genesis on that have ended. */
  readonly expectedFrom: number;
  readonly expectedThrough: number;
  /** Work of the observed rounds that have ended, by their place. */
  readonly rounds: ReadonlyMap<number, bigint>;
}

const noRounds: ReadonlyMap<number, bigint> = new Map();

export function computeStatistics(
  history: DayHistory | null,
  range: StatisticsRange,
  genesisMs: number,
  generatedAtMs: number,
): Statistics {
  const dayCount = dayCounts[range];
  const windowStartMs = findDayStart(generatedAtMs) - (dayCount - 1) * dayMs;
  const summaries = new Map<number, DaySummary>();
  for (const day of history === null ? [] : [...history.past, history.open]) summaries.set(day.startMs, day);
  const window = Array.from({ length: dayCount }, (_, index): WindowDay => {
    const startMs = windowStartMs + index * dayMs;
    const day = summaries.get(startMs) ?? null;
    const rounds = day === null ? noRounds : selectEndedRounds(day, generatedAtMs);
    return { startMs, summary: day, rounds, ...expectedPlaces(startMs, genesisMs, generatedAtMs) };
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
    lifetime: summarizeLifetime(history, genesisMs, generatedAtMs),
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

function expectedPlaces(startMs: number, genesisMs: number, generatedAtMs: number) {
  const expectedFrom = Math.min(roundsPerDay, Math.max(0, Math.ceil((genesisMs - startMs) / roundMs)));
  return { expectedFrom, expectedThrough: Math.max(expectedFrom, countEndedPlaces(startMs, generatedAtMs)) };
}

/** How many rounds of a day have ended. */
function countEndedPlaces(startMs: number, generatedAtMs: number): number {
  return Math.min(roundsPerDay, Math.max(0, Math.floor((generatedAtMs - startMs) / roundMs)));
}

/**
 * A device whose clock is ahead closes a round before it has ended, and such a round does not count yet. A day that is stored
 * without its rounds has long ended.
 */
function selectEndedRounds(
  { startMs, rounds }: DaySummary,
  generatedAtMs: number,
): ReadonlyMap<number, bigint> {
  const ended = countEndedPlaces(startMs, generatedAtMs);
  if (rounds === null || ended === roundsPerDay) return rounds ?? noRounds;
  return new Map([...rounds].filter(([place]) => place < ended));
}

/** The sums of a day, of what has ended of it. */
function sumEndedRounds(
  day: DaySummary,
  generatedAtMs: number,
): Pick<DaySummary, 'observedRoundCount' | 'workUnits'> {
  if (countEndedPlaces(day.startMs, generatedAtMs) === roundsPerDay) return day;
  const rounds = selectEndedRounds(day, generatedAtMs);
  return {
    observedRoundCount: rounds.size,
    workUnits: [...rounds.values()].reduce((total, work) => total + work, 0n),
  };
}

function computeDay(day: WindowDay, generatedAtMs: number): DayStatistics {
  const { startMs, summary, expectedFrom, expectedThrough, rounds } = day;
  const buckets = Array.from({ length: bucketsPerDay }, (_, clock): BucketStatistics => {
    const index = (clock + noonBucket) % bucketsPerDay;
    const places = Array.from(
      { length: roundsPerBucket },
      (_unused, round) => index * roundsPerBucket + round,
    );
    const works = places.map((place) => rounds.get(place)).filter((work) => work !== undefined);
    const isFuture = startMs + index * bucketMs + roundMs > generatedAtMs;
    const coverage = isFuture ? 'future' : classifyCoverage(works.length);
    return {
      startMinuteUtc: clock * bucketMinutes,
      coverage,
      observedRoundCount: works.length,
      workUnits: works.length === 0 ? null : works.reduce((total, work) => total + work, 0n),
    };
  });
  const expectedRoundCount = expectedThrough - expectedFrom;
  const observedRoundCount = sum(buckets, (bucket) => bucket.observedRoundCount);
  return {
    date: formatDayLabel(startMs),
    coverage: {
      expectedRoundCount,
      observedRoundCount,
      coverageBps: computeBps(observedRoundCount, expectedRoundCount),
    },
    observedWorkUnits: buckets.reduce((total, { workUnits }) => total + (workUnits ?? 0n), 0n),
    distanceMm: summary?.distanceMm ?? null,
    buckets,
  };
}

function classifyCoverage(observedRounds: number): BucketCoverage {
  if (observedRounds === roundsPerBucket) return 'complete';
  return observedRounds === 0 ? 'missing' : 'partial';
}

function summarizeLifetime(
  history: DayHistory | null,
  genesisMs: number,
  generatedAtMs: number,
): Statistics['lifetime'] {
  if (history === null) {
    const nothing = { acceptedWorkUnits: 0n, observedDistanceMm: 0n, activeDayCount: 0, coverageBps: 0 };
    return { ...nothing, firstObservedAtMs: null };
  }
  // A day that has not begun is one of a device whose clock is ahead.
  const days = [...history.past, history.open].filter(({ startMs }) => startMs <= generatedAtMs);
  const sums = days.map((day) => sumEndedRounds(day, generatedAtMs));
  const { firstObservedAtMs, earlier } = history;
  // From the round that holds the first reading, or the first round where that reading came before the genesis.
  const firstRound = Math.max(0, Math.floor((firstObservedAtMs - genesisMs) / roundMs));
  const endedRoundCount = Math.max(0, Math.floor((generatedAtMs - genesisMs) / roundMs));
  return {
    acceptedWorkUnits: sums.reduce((total, { workUnits }) => total + workUnits, earlier?.workUnits ?? 0n),
    observedDistanceMm: days.reduce(
      (total, { distanceMm }) => total + BigInt(distanceMm ?? 0),
      earlier?.distanceMm ?? 0n,
    ),
    activeDayCount: (earlier?.activeDayCount ?? 0) + sums.filter(({ workUnits }) => workUnits > 0n).length,
    coverageBps: computeBps(
      (earlier?.observedRoundCount ?? 0) + sum(sums, ({ observedRoundCount }) => observedRoundCount),
      Math.max(0, endedRoundCount - firstRound),
    ),
    firstObservedAtMs,
  };
}

function summarizeDays(
  days: readonly DayStatistics[],
  typicalDay: readonly TypicalBucket[],
): Statistics['summary'] {
  const active = days.filter(({ observedWorkUnits }) => observedWorkUnits > 0n);
  const observedWorkUnits = days.reduce((total, day) => total + day.observedWorkUnits, 0n);
  const count = BigInt(active.length);
  const activeDistance = active.reduce((total, { distanceMm }) => total + BigInt(distanceMm ?? 0), 0n);
  const activeWork = active.map((day) => day.observedWorkUnits);
  const most = largest(active, (day) => day.observedWorkUnits);
  const peak = largest(typicalDay, ({ meanWorkMilli }) => meanWorkMilli ?? 0n);
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

function computeTypicalDay(days: readonly DayStatistics[]): TypicalBucket[] {
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

/** The window's rounds in order of time; undefined for one that is missing. */
function* roundsInOrder(
  window: readonly WindowDay[],
): Iterable<{ startMs: number; workUnits: bigint | undefined }> {
  for (const { startMs, rounds } of window) {
    for (let place = 0; place < roundsPerDay; place++) {
      yield { startMs: startMs + place * roundMs, workUnits: rounds.get(place) };
    }
  }
}

function summarizeRounds(window: readonly WindowDay[], expectedRoundCount: number): Statistics['rounds'] {
  const observed = [...roundsInOrder(window)].flatMap(({ workUnits }) =>
    workUnits === undefined ? [] : [workUnits],
  );
  const active = observed.filter((work) => work > 0n).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const total = active.reduce((sumOfWork, work) => sumOfWork + work, 0n);
  return {
    observedCount: observed.length,
    activeCount: active.length,
    zeroWorkCount: observed.length - active.length,
    missingCount: expectedRoundCount - observed.length,
    activeRateBps: computeBps(active.length, observed.length),
    averageActiveWorkMilli: active.length === 0 ? null : (total * 1000n) / BigInt(active.length),
    medianActiveWork: computeMedian(active),
    // The nearest rank.
    p90ActiveWork: active[Math.ceil(active.length * 0.9) - 1] ?? null,
    mostActiveWork: active.at(-1) ?? null,
  };
}

function findRecords(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
  isWindowComplete: boolean,
): Statistics['records'] {
  const isFull = ({ coverage }: DayStatistics) => coverage.observedRoundCount === roundsPerDay;
  const findStartMs = (index: number) => (window[index] as WindowDay).startMs;
  const ofDays = (selectAmount: (day: DayStatistics) => bigint): StatisticsRecord | null => {
    const index = indexOfLargest(days, selectAmount);
    if (index === null) return null;
    const day = days[index] as DayStatistics;
    return toRecord(selectAmount(day), findStartMs(index), isFull(day));
  };
  const ofPeaks = (selectPeak: (day: DaySummary) => Peak | null): StatisticsRecord | null => {
    const peaks = window
      .flatMap(({ summary }) => (summary === null ? [] : [selectPeak(summary)]))
      .filter((peak) => peak !== null);
    const peak = largest(peaks, ({ value }) => BigInt(value));
    return peak === null ? null : toRecord(BigInt(peak.value), peak.atMs, isWindowComplete);
  };
  return {
    mostWorkHalfHour: mostWorkHalfHour(window, days),
    mostWorkUtcDay: ofDays(({ observedWorkUnits }) => observedWorkUnits),
    maximumDailyDistanceMm: ofDays(({ distanceMm }) => BigInt(distanceMm ?? 0)),
    peakObservedRpmMilli: ofPeaks((day) => day.peakRpmMilli),
    peakObservedSpeedMmPerSecond: ofPeaks((day) => day.peakSpeedMmPerSecond),
    longestActiveWindowMinutes: longestActiveWindow(window),
    longestActiveDayStreak: longestActiveStreak(window, days),
  };
}

function mostWorkHalfHour(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
): StatisticsRecord | null {
  // In order of time, that is from noon on, so that the earliest of equal ones comes first.
  const all = days.flatMap(({ buckets }, day) =>
    Array.from({ length: bucketsPerDay }, (_, index) => ({
      startMs: (window[day] as WindowDay).startMs + index * bucketMs,
      bucket: buckets[(index + noonBucket) % bucketsPerDay] as BucketStatistics,
    })),
  );
  const most = largest(all, ({ bucket }) => bucket.workUnits ?? 0n);
  if (most === null) return null;
  return toRecord(most.bucket.workUnits ?? 0n, most.startMs, most.bucket.coverage === 'complete');
}

/** The longest run of consecutive rounds that were observed with work; every round of it is observed. */
function longestActiveWindow(window: readonly WindowDay[]): StatisticsRecord | null {
  const longest = { rounds: 0, startMs: 0 };
  const run = { rounds: 0, startMs: 0 };
  for (const { startMs, workUnits } of roundsInOrder(window)) {
    const isActive = workUnits !== undefined && workUnits > 0n;
    if (isActive && run.rounds === 0) run.startMs = startMs;
    run.rounds = isActive ? run.rounds + 1 : 0;
    if (run.rounds > longest.rounds) Object.assign(longest, run);
  }
  return longest.rounds === 0
    ? null
    : toRecord(BigInt((longest.rounds * roundMs) / 60_000), longest.startMs, true);
}

function longestActiveStreak(
  window: readonly WindowDay[],
  days: readonly DayStatistics[],
): StatisticsRecord | null {
  let best: { length: number; first: number } | null = null;
  let first: number | null = null;
  for (const [index, { observedWorkUnits }] of days.entries()) {
    first = observedWorkUnits > 0n ? (first ?? index) : null;
    const length = first === null ? 0 : index - first + 1;
    if (first !== null && length > (best?.length ?? 0)) best = { length, first };
  }
  if (best === null) return null;
  const spanned = days.slice(best.first, best.first + best.length);
  const isComplete = spanned.every(({ coverage }) => coverage.observedRoundCount === roundsPerDay);
  return toRecord(BigInt(best.length), (window[best.first] as WindowDay).startMs, isComplete);
}

function toRecord(value: bigint, occurredAtMs: number, isComplete: boolean): StatisticsRecord {
  return { value, occurredAtMs, coverage: isComplete ? 'complete' : 'partial' };
}

/** The earliest entry of the largest amount; null when that is zero. */
function largest<Entry>(entries: readonly Entry[], selectAmount: (entry: Entry) => bigint): Entry | null {
  const index = indexOfLargest(entries, selectAmount);
  return index === null ? null : (entries[index] as Entry);
}

function indexOfLargest<Entry>(
  entries: readonly Entry[],
  selectAmount: (entry: Entry) => bigint,
): number | null {
  let best: number | null = null;
  let amount = 0n;
  for (const [index, entry] of entries.entries()) {
    if (selectAmount(entry) <= amount) continue;
    amount = selectAmount(entry);
    best = index;
  }
  return best;
}

/** The middle one, or the floored mean of the middle two; null of nothing. */
function computeMedian(values: readonly bigint[]): bigint | null {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as bigint) + upper) / 2n;
}

/** The floored ratio in basis points; zero when nothing is expected. */
function computeBps(part: number, whole: number): number {
  return whole === 0 ? 0 : Number((BigInt(part) * fullBps) / BigInt(whole));
}

function sum<Entry>(entries: readonly Entry[], selectCount: (entry: Entry) => number): number {
  return entries.reduce((total, entry) => total + selectCount(entry), 0);
}
