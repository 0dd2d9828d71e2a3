import { findDay, measureDays, observeRounds, type Reading } from './acceptedReadings.ts';
import {
  dayMs,
  findLargest,
  findMedian,
  findP90,
  minuteMs,
  roundMs,
  sum,
  toBps,
  toDate,
  toIso,
} from './messages.ts';

/** CONTRACT.md, Statistics and Terms of the statistics. */

const bucketMs = 30 * minuteMs;

interface StatisticsInput {
  /** Accepted readings of the installation. */
  readonly readings: readonly Reading[];
  readonly genesisMs: number;
  /** Null while the chain view is unavailable. */
  readonly settled: { blockCount: bigint; settlementCount: number; work: bigint } | null;
  readonly submissions: readonly SubmissionTimes[];
}

export interface SubmissionTimes {
  readonly lifecycle: string;
  readonly createdAtMs: number;
  readonly submittedAtMs: number | null;
  readonly terminalAtMs: number | null;
}

/** What is known of rounds and days at a time. */
export function measure(
  { readings, genesisMs }: Pick<StatisticsInput, 'readings' | 'genesisMs'>,
  nowMs: number,
) {
  // Rounds and days count only after their end, even if a device's fast clock is ahead.
  const hasEnded = (start: number) => start + roundMs <= nowMs;
  const rounds = new Map([...observeRounds(readings, genesisMs)].filter(([start]) => hasEnded(start)));
  const isExpected = (start: number) => start >= genesisMs && hasEnded(start);
  const distances = measureDays(readings);

  const describe = (starts: readonly number[]) => {
    const observed = starts.filter((start) => rounds.has(start));
    const expectedRoundCount = starts.filter(isExpected).length;
    return {
      works: observed.map((start) => rounds.get(start) as bigint),
      isFull: observed.length === starts.length,
      coverage: {
        expectedRoundCount,
        observedRoundCount: observed.length,
        coverageBps: toBps(observed.length, expectedRoundCount),
      },
    };
  };

  const measureBucket = (start: number) => {
    const { works } = describe(listRounds(start, 3));
    const byCount = ['missing', 'partial', 'partial', 'complete'];
    return {
      start,
      startMinuteUtc: (start % dayMs) / minuteMs,
      coverage: hasEnded(start) ? byCount[works.length] : 'future',
      observedRoundCount: works.length,
      work: sum(works),
      workUnits: works.length === 0 ? null : sum(works),
    };
  };

  /** A universal day by its noon. */
  const measureDay = (start: number) => {
    const { works, isFull, coverage } = describe(listRounds(start, 144));
    const distanceMm = distances.get(start);
    const buckets = Array.from({ length: 48 }, (_, index) => measureBucket(start + index * bucketMs));
    return {
      start,
      date: toDate(start),
      coverage,
      isFull,
      observedWorkUnits: sum(works),
      distanceMm: distanceMm === undefined ? null : BigInt(distanceMm),
      // In clock order: the second half of a universal day comes first.
      buckets: [...buckets.slice(24), ...buckets.slice(0, 24)],
    };
  };
  return { rounds, describe, measureDay };
}

/** Statistics are computed at multiples of 30 seconds, and `generatedAt` is one. */
export function measureStatistics(input: StatisticsInput, dayCount: number, nowMs: number) {
  const { readings } = input;
  const { rounds, describe, measureDay } = measure(input, nowMs);
  const windowStartMs = findDay(nowMs) - (dayCount - 1) * dayMs;
  const days = Array.from({ length: dayCount }, (_, index) => measureDay(windowStartMs + index * dayMs));

  const window = describe(listRounds(windowStartMs, dayCount * 144));
  const isComplete = window.coverage.coverageBps === 10_000;
  const activeDays = days.filter(isActive);
  const works = activeDays.map(({ observedWorkUnits }) => observedWorkUnits);
  const mostActive = findLargest(days, ({ observedWorkUnits }) => observedWorkUnits);
  const distanceOf = ({ distanceMm }: (typeof days)[number]) => distanceMm ?? 0n;
  const typicalDay = Array.from({ length: 48 }, (_, index) => {
    const known = days
      .map(({ buckets }) => buckets[index] as (typeof buckets)[number])
      .filter(({ coverage }) => coverage === 'complete')
      .map(({ work }) => work);
    const meanWorkMilli = known.length === 0 ? null : (sum(known) * 1000n) / BigInt(known.length);
    const startMinuteUtc = index * 30;
    return { startMinuteUtc, totalWorkUnits: sum(known), observedDayCount: known.length, meanWorkMilli };
  });
  const ofActiveDays = (total: bigint) =>
    activeDays.length === 0 ? null : total / BigInt(activeDays.length);

  // Records.
  const inWindow = readings.filter(
    ({ observedAtMs }) => observedAtMs >= windowStartMs && observedAtMs < findDay(nowMs) + dayMs,
  );
  const record = (value: bigint, occurredAtMs: number | undefined, isFull: boolean) =>
    value === 0n || occurredAtMs === undefined
      ? null
      : {
          value,
          occurredAt: toIso(occurredAtMs),
          coverage: isFull ? 'complete' : 'partial',
        };
  const peak = (read: (reading: Reading) => number) => {
    const found = findLargest(inWindow, (reading) => BigInt(read(reading)));
    return record(found === null ? 0n : BigInt(read(found)), found?.observedAtMs, isComplete);
  };
  const halfHours = days.flatMap(({ buckets }) => buckets).sort((one, other) => one.start - other.start);
  const halfHour = findLargest(halfHours, ({ work }) => work);
  const farthest = findLargest(days, distanceOf);
  const isActiveRound = (start: number) => (rounds.get(start) ?? 0n) > 0n;
  const longestRun = findLongestRun(listRounds(windowStartMs, dayCount * 144), isActiveRound);
  const streak = findLongestRun(days, isActive);

  const activeWorks = window.works.filter((work) => work > 0n);
  const { observedRoundCount, expectedRoundCount } = window.coverage;
  return {
    generatedAt: toIso(nowMs),
    window: {
      startAt: toIso(windowStartMs),
      endAt: toIso(nowMs),
      dayCount,
      bucketSeconds: 1800,
      roundSeconds: 600,
    },
    lifetime: buildLifetime(input, rounds, nowMs),
    activity: {
      coverage: { ...window.coverage, complete: isComplete },
      summary: {
        observedWorkUnits: sum(window.works),
        observedDistanceMm: sum(days.map(distanceOf)),
        activeDayCount: activeDays.length,
        inactiveDayCount: days.filter((day) => day.isFull && !isActive(day)).length,
        averageWorkPerActiveDayMilli: ofActiveDays(sum(works) * 1000n),
        medianWorkPerActiveDay: findMedian(works),
        averageDistancePerActiveDayMm: ofActiveDays(sum(activeDays.map(distanceOf))),
        mostActiveDate: mostActive?.date ?? null,
        mostActiveDateWorkUnits: mostActive?.observedWorkUnits ?? null,
        peakWindowStartMinuteUtc:
          findLargest(typicalDay, ({ meanWorkMilli }) => meanWorkMilli ?? 0n)?.startMinuteUtc ?? null,
      },
      days,
      typicalDay,
    },
    records: {
      mostWorkHalfHour: record(halfHour?.work ?? 0n, halfHour?.start, halfHour?.coverage === 'complete'),
      mostWorkUtcDay: record(
        mostActive?.observedWorkUnits ?? 0n,
        mostActive?.start,
        mostActive?.isFull ?? false,
      ),
      maximumDailyDistanceMm: record(farthest?.distanceMm ?? 0n, farthest?.start, farthest?.isFull ?? false),
      peakObservedRpmMilli: peak(({ rpmMilli }) => rpmMilli),
      peakObservedSpeedMmPerSecond: peak(({ speedMmPerSecond }) => speedMmPerSecond),
      // Every round of such a run is observed.
      longestActiveWindowMinutes: record(BigInt(longestRun.length * 10), longestRun[0], true),
      longestActiveDayStreak: record(
        BigInt(streak.length),
        streak[0]?.start,
        streak.every(({ isFull }) => isFull),
      ),
    },
    rounds: {
      observedCount: observedRoundCount,
      activeCount: activeWorks.length,
      zeroWorkCount: observedRoundCount - activeWorks.length,
      missingCount: expectedRoundCount - observedRoundCount,
      activeRateBps: toBps(activeWorks.length, observedRoundCount),
      averageActiveWorkMilli:
        activeWorks.length === 0 ? null : (sum(activeWorks) * 1000n) / BigInt(activeWorks.length),
      medianActiveWork: findMedian(activeWorks),
      p90ActiveWork: findP90(activeWorks),
      mostActiveWork: findLargest(activeWorks, (work) => work),
    },
    oracle: buildOracle(input.submissions, windowStartMs),
  };
}

const isActive = ({ observedWorkUnits }: { readonly observedWorkUnits: bigint }) => observedWorkUnits > 0n;
const listRounds = (start: number, count: number) =>
  Array.from({ length: count }, (_, index) => start + index * roundMs);

/** The first of the longest runs of neighbours that match. */
function findLongestRun<Item>(items: readonly Item[], matches: (item: Item) => boolean): Item[] {
  let longest: Item[] = [];
  let current: Item[] = [];
  for (const item of items) {
    current = matches(item) ? [...current, item] : [];
    if (current.length > longest.length) longest = current;
  }
  return longest;
}

/** `rounds` are observed and have ended. */
function buildLifetime(
  { readings, genesisMs, settled }: StatisticsInput,
  rounds: ReadonlyMap<number, bigint>,
  nowMs: number,
) {
  const first = readings[0] ?? null;
  const workByDay = new Map<number, bigint>();
  for (const [start, work] of rounds)
    workByDay.set(findDay(start), (workByDay.get(findDay(start)) ?? 0n) + work);
  const begun = [...measureDays(readings)].filter(([day]) => day <= nowMs);
  // From the round that holds the first reading, and from the genesis.
  const firstRound = Math.max(0, Math.floor(((first?.observedAtMs ?? 0) - genesisMs) / roundMs));
  const ended = Math.max(0, Math.floor((nowMs - genesisMs) / roundMs));
  const expected = first === null ? 0 : Math.max(0, ended - firstRound);
  return {
    acceptedWorkUnits: sum([...rounds.values()]),
    observedDistanceMm: sum(begun.map(([, distance]) => BigInt(distance))),
    settledBlockCount: settled?.blockCount ?? null,
    settlementCount: settled && String(settled.settlementCount),
    settledWorkUnits: settled?.work ?? null,
    activeDayCount: [...workByDay.values()].filter((work) => work > 0n).length,
    coverageBps: toBps(rounds.size, expected),
    firstObservedAt: first === null ? null : toIso(first.observedAtMs),
  };
}

/** Submissions that were created in the window; `completeForWindow` when some are known since before it. */
function buildOracle(submissions: readonly SubmissionTimes[], windowStartMs: number) {
  const first = submissions[0];
  if (first === undefined) return { status: 'unavailable' };
  const created = submissions.filter(({ createdAtMs }) => createdAtMs >= windowStartMs);
  const count = (lifecycle: string) => created.filter((one) => one.lifecycle === lifecycle).length;
  const rate = (lifecycle: string) => toBps(count(lifecycle), created.length);
  // The reporter's clock may have been set back in between: then the latency is unknown.
  const latencies = created.flatMap(({ lifecycle, submittedAtMs, terminalAtMs }) =>
    lifecycle === 'confirmed' && (terminalAtMs as number) >= (submittedAtMs as number)
      ? [BigInt((terminalAtMs as number) - (submittedAtMs as number))]
      : [],
  );
  const toNumber = (value: bigint | null) => (value === null ? null : Number(value));
  return {
    status: 'available',
    coverageStartedAt: toIso(first.createdAtMs),
    completeForWindow: first.createdAtMs <= windowStartMs,
    submissionCount: created.length,
    confirmedCount: count('confirmed'),
    revertedCount: count('reverted'),
    supersededCount: count('superseded'),
    confirmedRateBps: rate('confirmed'),
    revertedRateBps: rate('reverted'),
    supersededRateBps: rate('superseded'),
    confirmationLatencyMedianMs: toNumber(findMedian(latencies)),
    confirmationLatencyP90Ms: toNumber(findP90(latencies)),
  };
}
