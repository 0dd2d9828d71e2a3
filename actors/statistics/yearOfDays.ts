import { dayMs } from '../schemas/durations.ts';
import { type DayHistory, findDayStart, formatDayLabel } from '../wheel/dayHistory.ts';
import {
  type DayStatistics,
  findExpectedPlaces,
  indexDays,
  sumEndedRounds,
  summarizeCoverage,
} from './dayStatistics.ts';

/** The current universal day and those before it. */
export const yearDayCount = 365;

export type YearOfDays = readonly Omit<DayStatistics, 'buckets'>[];

interface YearInput {
  /** Null before the first reading. */
  readonly history: DayHistory | null;
  readonly genesisMs: number;
  /** Rounds that end later do not count (epoch milliseconds). */
  readonly generatedAtMs: number;
}

/** The newest {@link yearDayCount} universal days, ascending, without days that ended before the genesis. */
export function computeYear({ history, genesisMs, generatedAtMs }: YearInput): YearOfDays {
  const todayMs = findDayStart(generatedAtMs);
  const firstMs = Math.max(findDayStart(genesisMs), todayMs - (yearDayCount - 1) * dayMs);
  const known = indexDays(history);
  return Array.from({ length: Math.max(0, (todayMs - firstMs) / dayMs + 1) }, (_, index) => {
    const startMs = firstMs + index * dayMs;
    const day = known.get(startMs);
    const sums = day === undefined ? null : sumEndedRounds(day, generatedAtMs);
    const { expectedFrom, expectedThrough } = findExpectedPlaces(startMs, genesisMs, generatedAtMs);
    return {
      date: formatDayLabel(startMs),
      coverage: summarizeCoverage(expectedThrough - expectedFrom, sums?.observedRoundCount ?? 0),
      observedWorkUnits: sums?.workUnits ?? 0n,
      distanceMm: day?.distanceMm ?? null,
    };
  });
}
