import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { dayMs, noonMs } from '../schemas/durations.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import type { CounterReading } from './counterReading.ts';
import { type RoundRow, roundMs } from './roundFold.ts';

/** A universal day runs from noon to noon UTC (CONTRACT.md, Time, rounds and days). */
export const roundsPerDay = dayMs / roundMs;
/** Closed days with single rounds: the longest window, and one day in which a late round can still close. */
const detailedDaysMax = 31;

/** Start of the universal day that holds a time (epoch milliseconds). */
export function findDayStart(timeMs: number): number {
  return Math.floor((timeMs - noonMs) / dayMs) * dayMs + noonMs;
}

/** The label of a universal day: the calendar date of its first noon. */
export function formatDayLabel(startMs: number): string {
  return new Date(startMs).toISOString().slice(0, 10);
}

/** A largest value and the time of the first reading with it. */
const peak = z.strictObject({ value: count, atMs: milliseconds });
export type Peak = Inferred<typeof peak>;

/** Sums of one universal day with accepted readings. */
export const daySums = z.strictObject({
  startMs: milliseconds,
  observedRoundCount: count,
  workUnits: amount,
  /** Largest distance of its readings; null before the first. */
  distanceMm: count.nullable(),
  peakRpmMilli: peak.nullable(),
  peakSpeedMmPerSecond: peak.nullable(),
});

/** One universal day with accepted readings. Immutable. */
export interface DaySummary extends Inferred<typeof daySums> {
  /** Work of observed rounds by place in the day; null for a day that is too old to be shown in detail. */
  readonly rounds: ReadonlyMap<number, bigint> | null;
}

export const historyStart = z.strictObject({ firstObservedAtMs: milliseconds });

/** Days of one installation, as its statistics need them. Immutable. */
export interface DayHistory extends Inferred<typeof historyStart> {
  /** Ascending. Days without accepted readings are missing. */
  readonly past: readonly DaySummary[];
  /** The day of the newest reading. */
  readonly open: DaySummary;
}

function createEmptyDay(startMs: number): DaySummary {
  return {
    startMs,
    observedRoundCount: 0,
    workUnits: 0n,
    distanceMm: null,
    peakRpmMilli: null,
    peakSpeedMmPerSecond: null,
    rounds: new Map(),
  };
}

/**
 * Adds an accepted reading and the round that it closed, if any. That round held the previous reading, so it belongs to the day that
 * was open before.
 */
export function withReading(
  history: DayHistory | null,
  reading: CounterReading,
  closed: RoundRow | null,
): DayHistory {
  const startMs = findDayStart(reading.observedAtMs);
  if (history === null) {
    return {
      firstObservedAtMs: reading.observedAtMs,
      past: [],
      open: withPeaks(createEmptyDay(startMs), reading),
    };
  }
  const open = closed === null ? history.open : withRound(history.open, closed);
  if (open.startMs === startMs) {
    const changed = withPeaks(open, reading);
    if (changed === history.open) return history;
    const { firstObservedAtMs, past } = history;
    return { firstObservedAtMs, past, open: changed };
  }
  const past = [...history.past, open];
  const tooOld = past.length - detailedDaysMax;
  if (tooOld >= 0) past[tooOld] = { ...(past[tooOld] as DaySummary), rounds: null };
  return { ...history, past, open: withPeaks(createEmptyDay(startMs), reading) };
}

function withPeaks(
  day: DaySummary,
  { observedAtMs, distanceMm, rpmMilli, speedMmPerSecond }: CounterReading,
): DaySummary {
  const peakRpmMilli = raisePeak(day.peakRpmMilli, rpmMilli, observedAtMs);
  const peakSpeedMmPerSecond = raisePeak(day.peakSpeedMmPerSecond, speedMmPerSecond, observedAtMs);
  const largestMm = Math.max(day.distanceMm ?? 0, distanceMm);
  const isNothingNew =
    largestMm === day.distanceMm &&
    peakRpmMilli === day.peakRpmMilli &&
    peakSpeedMmPerSecond === day.peakSpeedMmPerSecond;
  if (isNothingNew) return day;
  // Written out, since nearly every reading creates this object and a spread costs several times as much.
  return {
    startMs: day.startMs,
    observedRoundCount: day.observedRoundCount,
    workUnits: day.workUnits,
    distanceMm: largestMm,
    peakRpmMilli,
    peakSpeedMmPerSecond,
    rounds: day.rounds,
  };
}

function withRound(day: DaySummary, { startMs, workUnits }: RoundRow): DaySummary {
  const place = (startMs - day.startMs) / roundMs;
  return {
    ...day,
    observedRoundCount: day.observedRoundCount + 1,
    workUnits: day.workUnits + workUnits,
    rounds: day.rounds === null ? null : new Map([...day.rounds, [place, workUnits]]),
  };
}

function raisePeak(peak: Peak | null, value: number, atMs: number): Peak {
  return peak !== null && peak.value >= value ? peak : { value, atMs };
}

/** All days, ascending. */
export function listDays({ past, open }: DayHistory): readonly DaySummary[] {
  return [...past, open];
}

/** The day with this start (epoch milliseconds); null if it has no accepted readings. */
export function findDay(history: DayHistory | null, startMs: number): DaySummary | null {
  if (history === null) return null;
  const { past, open } = history;
  return open.startMs === startMs ? open : (past.findLast((day) => day.startMs === startMs) ?? null);
}

/** Work of the observed round with this start (epoch milliseconds); undefined for any other, or if its day is too old to be shown in detail. */
export function findRoundWork(history: DayHistory, startMs: number): bigint | undefined {
  const dayStartMs = findDayStart(startMs);
  return findDay(history, dayStartMs)?.rounds?.get((startMs - dayStartMs) / roundMs);
}

/** Rebuilds a history from its days, ascending. The last day is the open one. */
export function toHistory(start: Inferred<typeof historyStart>, days: readonly DaySummary[]): DayHistory {
  return {
    ...start,
    past: days.slice(0, -1),
    open: requireValue(days.at(-1), 'the day of the newest reading'),
  };
}
