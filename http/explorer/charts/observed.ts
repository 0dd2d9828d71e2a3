import { sort } from 'd3-array';
import { findDaySpan } from '../../addresses/days.ts';
import type { Bodies, ReadBody } from '../page.ts';
import { corePath } from '../resources.ts';
import { findGenesisMs, halfHourMs } from '../rounds.ts';

/** States of a half hour or a day. `running` has not ended, and `before` ended before the first reading. */
export type Observed = 'complete' | 'partial' | 'missing' | 'future' | 'running' | 'before';

type Statistics = Bodies['statistics'];
export type Day = Statistics['activity']['days'][number];

/** Tells apart half hours and days without observation. */
export interface Known {
  /** Time of the first reading, or of the genesis if that is later; infinite before the first reading. */
  readonly firstObservedMs: number;
  /** End of the statistics. */
  readonly generatedMs: number;
}

export interface HalfHour {
  readonly date: string;
  readonly startAt: string;
  readonly startMinuteUtc: number;
  readonly state: Observed;
  /** Null if unknown. */
  readonly workUnits: string | null;
  readonly observedRoundCount: number;
}

/**
 * Time of a minute of a universal day, in ISO 8601. Routes list half hours in clock order, so their first half belongs to the calendar date
 * after the day's label (CONTRACT.md, Terms of the statistics).
 */
export function findTime(date: string, minuteUtc: number): string {
  const [startMs, endMs] = findDaySpan(date);
  const atMs = Date.parse(date) + minuteUtc * 60_000;
  return new Date(atMs < startMs ? atMs + endMs - startMs : atMs).toISOString();
}

/** Time of the first reading; infinite before it. */
export function findFirstObservedMs({ lifetime: { firstObservedAt } }: Statistics): number {
  return firstObservedAt === null ? Number.POSITIVE_INFINITY : Date.parse(firstObservedAt);
}

/** Reads what the statistics do not say themselves. */
export function findKnown(statistics: Statistics, read: ReadBody): Known {
  return {
    firstObservedMs: Math.max(findFirstObservedMs(statistics), findGenesisMs(read('core', corePath)) ?? 0),
    generatedMs: Date.parse(statistics.generatedAt),
  };
}

/** The half hours of a universal day, from noon to noon. */
export function listHalfHours({ date, buckets }: Day, known: Known): HalfHour[] {
  const ordered = sort(buckets, ({ startMinuteUtc }) => findTime(date, startMinuteUtc));
  return ordered.map(({ startMinuteUtc, coverage, workUnits, observedRoundCount }) => {
    const startAt = findTime(date, startMinuteUtc);
    const startMs = Date.parse(startAt);
    const isRunning = startMs <= known.generatedMs && known.generatedMs < startMs + halfHourMs;
    const isBefore = coverage === 'missing' && startMs + halfHourMs <= known.firstObservedMs;
    return {
      date,
      startAt,
      startMinuteUtc,
      state: isRunning ? 'running' : isBefore ? 'before' : coverage,
      workUnits,
      observedRoundCount,
    };
  });
}

type Totals = Pick<Day, 'date' | 'coverage'>;

/** Classifies days. The last day is running. */
export function classifyDays<One extends Totals>(
  days: readonly One[],
  firstObservedMs: number,
): (One & { readonly state: Observed })[] {
  return days.map((day, index) => ({
    ...day,
    state: classifyDay(day, index === days.length - 1, firstObservedMs),
  }));
}

function classifyDay({ date, coverage }: Totals, isLast: boolean, firstObservedMs: number): Observed {
  const isObserved = coverage.observedRoundCount > 0;
  const [, endMs] = findDaySpan(date);
  if (!isObserved && endMs <= firstObservedMs) return 'before';
  if (isLast) return 'running';
  if (!isObserved) return 'missing';
  return coverage.coverageBps === 10_000 ? 'complete' : 'partial';
}
