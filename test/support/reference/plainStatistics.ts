import type { CounterReadingMessage } from '../../../actors/wheel/counterReading.ts';

/**
 * The statistics resource straight from the definitions and the accepted readings, without anything of the product: slow,
 * plain, and checked by eye. Amounts are bigints, times epoch milliseconds, `null` where the resource has null.
 */
const minuteMs = 60_000;
const roundMs = 10 * minuteMs;
const dayMs = 24 * 60 * minuteMs;

interface Reading {
  readonly atMs: number;
  readonly epoch: string;
  readonly counter: bigint;
  readonly distanceMm: number;
  readonly rpmMilli: number;
  readonly speed: number;
}

export function plainReading(message: CounterReadingMessage): Reading {
  return {
    atMs: Date.parse(message.observedAt),
    epoch: message.counterEpoch,
    counter: BigInt(message.cumulativeWorkUnits),
    distanceMm: message.distanceMm,
    rpmMilli: message.rpmMilli,
    speed: message.speedMmPerSecond,
  };
}

/** Work of each observed round by its start. */
function observeRounds(readings: readonly Reading[], genesisMs: number): Map<number, bigint> {
  // Covered spans, joined where they touch.
  const spans: { from: number; to: number }[] = [];
  for (let index = 1; index < readings.length; index++) {
    const [a, b] = [readings[index - 1] as Reading, readings[index] as Reading];
    if (a.epoch !== b.epoch || b.atMs - a.atMs > 2 * minuteMs) continue;
    const last = spans.at(-1);
    if (last !== undefined && last.to >= a.atMs) last.to = Math.max(last.to, b.atMs);
    else spans.push({ from: a.atMs, to: b.atMs });
  }
  const rounds = new Map<number, bigint>();
  for (const { from, to } of spans) {
    const first = genesisMs + Math.max(0, Math.ceil((from - genesisMs) / roundMs)) * roundMs;
    for (let start = first; start + roundMs <= to; start += roundMs) {
      let work = 0n;
      for (let index = 1; index < readings.length; index++) {
        const [a, b] = [readings[index - 1] as Reading, readings[index] as Reading];
        const isCovering = a.epoch === b.epoch && b.atMs - a.atMs <= 2 * minuteMs;
        if (isCovering && b.atMs >= start && b.atMs < start + roundMs) work += b.counter - a.counter;
      }
      rounds.set(start, work);
    }
  }
  return rounds;
}

function findUniversalDay(timeMs: number): number {
  const noon = new Date(timeMs);
  noon.setUTCHours(12, 0, 0, 0);
  return noon.getTime() > timeMs ? noon.getTime() - dayMs : noon.getTime();
}

const bps = (part: number, total: number) => (total === 0 ? 0 : Math.floor((part * 10_000) / total));
const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
const sorted = (values: readonly bigint[]) => [...values].sort((a, b) => Number(a - b));

function median(values: readonly bigint[]): bigint | null {
  const order = sorted(values);
  if (order.length === 0) return null;
  const upper = order[Math.floor(order.length / 2)] as bigint;
  const lower = order[Math.ceil(order.length / 2) - 1] as bigint;
  return (upper + lower) / 2n;
}

/** The first of the largest, above zero. */
function best<Entry>(entries: readonly Entry[], value: (entry: Entry) => bigint): Entry | null {
  let found: Entry | null = null;
  for (const entry of entries) {
    if (value(entry) > (found === null ? 0n : value(found))) found = entry;
  }
  return found;
}

export function plainStatistics(
  readings: readonly Reading[],
  dayCount: 7 | 30,
  genesisMs: number,
  nowMs: number,
) {
  // A device's clock may be ahead of the service's: what has not ended does not count yet.
  const rounds = new Map(
    [...observeRounds(readings, genesisMs)].filter(([start]) => start + roundMs <= nowMs),
  );
  const today = findUniversalDay(nowMs);
  const starts = Array.from({ length: dayCount }, (_, index) => today - (dayCount - 1 - index) * dayMs);
  const isExpected = (start: number) => start >= genesisMs && start + roundMs <= nowMs;
  const roundStarts = (fromMs: number, count: number) =>
    Array.from({ length: count }, (_, index) => fromMs + index * roundMs);
  const findDistance = (start: number) => {
    const inside = readings.filter(({ atMs }) => atMs >= start && atMs < start + dayMs);
    return inside.length === 0 ? null : Math.max(...inside.map(({ distanceMm }) => distanceMm));
  };

  const bucketAt = (startMs: number) => {
    const works = roundStarts(startMs, 3).flatMap((start) => rounds.get(start) ?? []);
    const coverage =
      startMs + roundMs > nowMs
        ? 'future'
        : works.length === 3
          ? 'complete'
          : works.length === 0
            ? 'missing'
            : 'partial';
    return {
      startMs,
      coverage,
      observedRoundCount: works.length,
      workUnits: works.length === 0 ? null : sum(works),
    };
  };

  const days = starts.map((start) => {
    const own = roundStarts(start, 144);
    const observed = own.filter((round) => rounds.has(round));
    const inTime = Array.from({ length: 48 }, (_, index) => bucketAt(start + index * 3 * roundMs));
    const byClock = [...inTime].sort((a, b) => (a.startMs % dayMs) - (b.startMs % dayMs));
    const expected = own.filter(isExpected).length;
    return {
      start,
      inTime,
      shown: {
        date: new Date(start).toISOString().slice(0, 10),
        coverage: {
          expectedRoundCount: expected,
          observedRoundCount: observed.length,
          coverageBps: bps(observed.length, expected),
        },
        observedWorkUnits: sum(observed.map((round) => rounds.get(round) as bigint)),
        distanceMm: findDistance(start),
        buckets: byClock.map(({ startMs, ...bucket }) => ({
          startMinuteUtc: (startMs % dayMs) / minuteMs,
          ...bucket,
        })),
      },
    };
  });

  const windowRounds = days.flatMap(({ start }) => roundStarts(start, 144));
  const observedWorks = windowRounds.flatMap((round) => rounds.get(round) ?? []);
  const activeWorks = sorted(observedWorks.filter((work) => work > 0n));
  const expectedCount = windowRounds.filter(isExpected).length;
  const isFull = ({ shown }: (typeof days)[number]) => shown.coverage.observedRoundCount === 144;
  const activeDays = days.filter(({ shown }) => shown.observedWorkUnits > 0n);
  const typicalDay = Array.from({ length: 48 }, (_, index) => {
    const complete = days
      .map(({ shown }) => shown.buckets[index] as (typeof shown.buckets)[number])
      .filter(({ coverage }) => coverage === 'complete')
      .map(({ workUnits }) => workUnits as bigint);
    return {
      startMinuteUtc: index * 30,
      totalWorkUnits: sum(complete),
      observedDayCount: complete.length,
      meanWorkMilli: complete.length === 0 ? null : (sum(complete) * 1000n) / BigInt(complete.length),
    };
  });

  const inWindow = readings.filter(({ atMs }) => atMs >= (starts[0] as number) && atMs < today + dayMs);
  const windowBps = bps(observedWorks.length, expectedCount);
  const record = (value: bigint | null, occurredAtMs: number | undefined, isComplete: boolean) =>
    value === null || value === 0n
      ? null
      : { value, occurredAtMs: occurredAtMs as number, coverage: isComplete ? 'complete' : 'partial' };
  const findPeak = (value: (reading: Reading) => number) => {
    const found = best(inWindow, (reading) => BigInt(value(reading)));
    return record(found === null ? null : BigInt(value(found)), found?.atMs, windowBps === 10_000);
  };

  const halfHour = best(
    days.flatMap(({ inTime }) => inTime),
    ({ workUnits }) => workUnits ?? 0n,
  );
  const workDay = best(days, ({ shown }) => shown.observedWorkUnits);
  const farDay = best(days, ({ shown }) => BigInt(shown.distanceMm ?? 0));
  const runs: { start: number; length: number }[] = [];
  for (const round of windowRounds) {
    const last = runs.at(-1);
    if ((rounds.get(round) ?? 0n) === 0n) continue;
    if (last !== undefined && last.start + last.length * roundMs === round) last.length++;
    else runs.push({ start: round, length: 1 });
  }
  const longestRun = best(runs, ({ length }) => BigInt(length));
  const streaks: (typeof days)[] = [];
  days.forEach((day, index) => {
    if (day.shown.observedWorkUnits === 0n) return;
    const before = days[index - 1];
    if (before !== undefined && streaks.at(-1)?.at(-1) === before) streaks.at(-1)?.push(day);
    else streaks.push([day]);
  });
  const longestStreak = best(streaks, ({ length }) => BigInt(length));
  const peakSlot = best(typicalDay, ({ meanWorkMilli }) => meanWorkMilli ?? 0n);

  const allDays = [...new Set(readings.map(({ atMs }) => findUniversalDay(atMs)))].filter(
    (start) => start <= nowMs,
  );
  const workByDay = new Map<number, bigint>();
  for (const [start, work] of rounds) {
    const day = findUniversalDay(start);
    workByDay.set(day, (workByDay.get(day) ?? 0n) + work);
  }
  const firstMs = readings[0]?.atMs ?? null;
  let lifetimeExpected = 0;
  if (firstMs !== null) {
    for (let start = genesisMs; start + roundMs <= nowMs; start += roundMs)
      if (start + roundMs > firstMs) lifetimeExpected++;
  }
  return {
    lifetime: {
      acceptedWorkUnits: sum([...rounds.values()]),
      observedDistanceMm: sum(allDays.map((day) => BigInt(findDistance(day) ?? 0))),
      activeDayCount: [...workByDay.values()].filter((work) => work > 0n).length,
      coverageBps: bps(rounds.size, lifetimeExpected),
      firstObservedAtMs: firstMs,
    },
    coverage: {
      expectedRoundCount: expectedCount,
      observedRoundCount: observedWorks.length,
      coverageBps: windowBps,
      complete: windowBps === 10_000,
    },
    summary: {
      observedWorkUnits: sum(observedWorks),
      observedDistanceMm: sum(days.map(({ shown }) => BigInt(shown.distanceMm ?? 0))),
      activeDayCount: activeDays.length,
      inactiveDayCount: days.filter((day) => isFull(day) && day.shown.observedWorkUnits === 0n).length,
      averageWorkPerActiveDayMilli:
        activeDays.length === 0 ? null : (sum(observedWorks) * 1000n) / BigInt(activeDays.length),
      medianWorkPerActiveDay: median(activeDays.map(({ shown }) => shown.observedWorkUnits)),
      averageDistancePerActiveDayMm:
        activeDays.length === 0
          ? null
          : sum(activeDays.map(({ shown }) => BigInt(shown.distanceMm ?? 0))) / BigInt(activeDays.length),
      mostActiveDate: workDay?.shown.date ?? null,
      mostActiveDateWorkUnits: workDay?.shown.observedWorkUnits ?? null,
      peakWindowStartMinuteUtc: peakSlot?.startMinuteUtc ?? null,
    },
    days: days.map(({ shown }) => shown),
    typicalDay,
    records: {
      mostWorkHalfHour: record(
        halfHour?.workUnits ?? null,
        halfHour?.startMs,
        halfHour?.coverage === 'complete',
      ),
      mostWorkUtcDay: record(
        workDay?.shown.observedWorkUnits ?? null,
        workDay?.start,
        workDay !== null && isFull(workDay),
      ),
      maximumDailyDistanceMm: record(
        farDay === null ? null : BigInt(farDay.shown.distanceMm ?? 0),
        farDay?.start,
        farDay !== null && isFull(farDay),
      ),
      peakObservedRpmMilli: findPeak(({ rpmMilli }) => rpmMilli),
      peakObservedSpeedMmPerSecond: findPeak(({ speed }) => speed),
      longestActiveWindowMinutes: record(
        longestRun === null ? null : BigInt(longestRun.length * 10),
        longestRun?.start,
        true,
      ),
      longestActiveDayStreak: record(
        longestStreak === null ? null : BigInt(longestStreak.length),
        longestStreak?.[0]?.start,
        longestStreak?.every(isFull) ?? false,
      ),
    },
    rounds: {
      observedCount: observedWorks.length,
      activeCount: activeWorks.length,
      zeroWorkCount: observedWorks.length - activeWorks.length,
      missingCount: expectedCount - observedWorks.length,
      activeRateBps: bps(activeWorks.length, observedWorks.length),
      averageActiveWorkMilli:
        activeWorks.length === 0 ? null : (sum(activeWorks) * 1000n) / BigInt(activeWorks.length),
      medianActiveWork: median(activeWorks),
      p90ActiveWork: activeWorks[Math.ceil((activeWorks.length * 9) / 10) - 1] ?? null,
      mostActiveWork: activeWorks.at(-1) ?? null,
    },
  };
}
