import { type DaySummary, formatDayLabel, roundsPerDay } from '../wheel/dayHistory.ts';
import { bucketMs, bucketSeconds, roundMs } from '../wheel/roundFold.ts';
import { computeBps, sum } from './arithmetic.ts';

export const bucketsPerDay = 48;

const roundsPerBucket = 3;

export const bucketMinutes = bucketSeconds / 60;

/** The first bucket of a day begins at noon: in clock order it is the twenty-fifth. */
export const noonBucket = bucketsPerDay / 2;

export const bucketCoverages = ['complete', 'partial', 'missing', 'future'] as const;

type BucketCoverage = (typeof bucketCoverages)[number];

interface Coverage {
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
  /** In clock order from midnight. The first half lies on the calendar date after `date`. */
  readonly buckets: readonly BucketStatistics[];
}

export interface WindowDay {
  readonly startMs: number;
  readonly summary: DaySummary | null;
  /** Places of the expected rounds, which begin with the genesis and have ended. */
  readonly expectedFrom: number;
  readonly expectedThrough: number;
  /** Work of the observed rounds that have ended, by place in the day. */
  readonly rounds: ReadonlyMap<number, bigint>;
}

export const noRounds: ReadonlyMap<number, bigint> = new Map();

export function findExpectedPlaces(startMs: number, genesisMs: number, generatedAtMs: number) {
  const expectedFrom = Math.min(roundsPerDay, Math.max(0, Math.ceil((genesisMs - startMs) / roundMs)));
  return { expectedFrom, expectedThrough: Math.max(expectedFrom, countEndedPlaces(startMs, generatedAtMs)) };
}

function countEndedPlaces(startMs: number, generatedAtMs: number): number {
  return Math.min(roundsPerDay, Math.max(0, Math.floor((generatedAtMs - startMs) / roundMs)));
}

/**
 * Observed rounds that have ended. A device whose clock is ahead closes rounds before their end, and they do not count yet. A day
 * without stored rounds has long ended.
 */
export function selectEndedRounds(
  { startMs, rounds }: DaySummary,
  generatedAtMs: number,
): ReadonlyMap<number, bigint> {
  const ended = countEndedPlaces(startMs, generatedAtMs);
  if (rounds === null || ended === roundsPerDay) return rounds ?? noRounds;
  return new Map([...rounds].filter(([place]) => place < ended));
}

export function sumEndedRounds(
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

export function computeDay(day: WindowDay, generatedAtMs: number): DayStatistics {
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
  const observedRoundCount = sum(buckets, (bucket) => bucket.observedRoundCount);
  const expectedRoundCount = expectedThrough - expectedFrom;
  const coverageBps = computeBps(observedRoundCount, expectedRoundCount);
  return {
    date: formatDayLabel(startMs),
    coverage: { expectedRoundCount, observedRoundCount, coverageBps },
    observedWorkUnits: buckets.reduce((total, { workUnits }) => total + (workUnits ?? 0n), 0n),
    distanceMm: summary?.distanceMm ?? null,
    buckets,
  };
}

function classifyCoverage(observedRounds: number): BucketCoverage {
  if (observedRounds === roundsPerBucket) return 'complete';
  return observedRounds === 0 ? 'missing' : 'partial';
}

/** The window's rounds in order of time. `workUnits` is undefined for a missing round. */
export function* walkRounds(
  window: readonly WindowDay[],
): Iterable<{ startMs: number; workUnits: bigint | undefined }> {
  for (const { startMs, rounds } of window) {
    for (let place = 0; place < roundsPerDay; place++) {
      yield { startMs: startMs + place * roundMs, workUnits: rounds.get(place) };
    }
  }
}
