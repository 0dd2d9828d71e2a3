import { requireValue } from '../requireValue.ts';
import type { RoundRow } from '../storedRows.ts';
import type { AcceptedReading } from '../wheel/acceptedReading.ts';
import { roundMs } from '../wheel/activityFold.ts';

/** A universal day runs from noon to noon UTC (CONTRACT.md, Time, rounds and days). */
export const dayMs = 86_400_000;
const noonMs = dayMs / 2;
export const roundsPerDay = dayMs / roundMs;
/** Days whose rounds are stored one by one: the longest window, and the day that a late round can still close in. */
const detailedDaysMax = 31;

/** Start of the universal day that holds a time (epoch milliseconds). */
export function findDayStart(timeMs: number): number {
  return Math.floor((timeMs - noonMs) / dayMs) * dayMs + noonMs;
}

/** The label of a universal day: the calendar date of its first noon. */
export function formatDayLabel(startMs: number): string {
  return new Date(startMs).toISOString().slice(0, 10);
}

/** A largest value with the time of the first reading that had it. */
export interface Peak {
  readonly value: number;
  readonly atMs: number;
}

/** One universal day in which something was accepted. Immutable. */
export interface DaySummary {
  readonly startMs: number;
  readonly observedRoundCount: number;
  readonly workUnits: bigint;
  /** Largest distance of its readings; null before the first. */
  readonly distanceMm: number | null;
  readonly peakRpmMilli: Peak | null;
  readonly peakSpeedMmPerSecond: Peak | null;
  /** Work of its observed rounds by their place in the day; null for a day that is too old to be shown in detail. */
  readonly rounds: ReadonlyMap<number, bigint> | null;
}

/** Everything that the statistics of one installation need. Immutable. */
export interface DayHistory {
  readonly firstObservedAtMs: number;
  /** Ascending; a day without anything accepted is missing. */
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
 * Takes an accepted reading and the round that it closed, if any: the one that held the reading before it, so that one is of
 * the open day too.
 */
export function withReading(
  history: DayHistory | null,
  reading: AcceptedReading,
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
    return { firstObservedAtMs: history.firstObservedAtMs, past: history.past, open: changed };
  }
  const past = [...history.past, open];
  const tooOld = past.length - detailedDaysMax;
  if (tooOld >= 0) past[tooOld] = { ...(past[tooOld] as DaySummary), rounds: null };
  return { ...history, past, open: withPeaks(createEmptyDay(startMs), reading) };
}

function withPeaks(
  day: DaySummary,
  { observedAtMs, distanceMm, rpmMilli, speedMmPerSecond }: AcceptedReading,
): DaySummary {
  const peakRpmMilli = raisePeak(day.peakRpmMilli, rpmMilli, observedAtMs);
  const peakSpeedMmPerSecond = raisePeak(day.peakSpeedMmPerSecond, speedMmPerSecond, observedAtMs);
  const largestMm = Math.max(day.distanceMm ?? 0, distanceMm);
  const isNothingNew =
    largestMm === day.distanceMm &&
    peakRpmMilli === day.peakRpmMilli &&
    peakSpeedMmPerSecond === day.peakSpeedMmPerSecond;
  if (isNothingNew) return day;
  // Written out: this is made of nearly every reading, and a spread costs several times as much.
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

/** Ascending. */
export function listDays({ past, open }: DayHistory): readonly DaySummary[] {
  return [...past, open];
}

/** The history of these days, ascending; the last one is that of the newest reading. */
export function toHistory(firstObservedAtMs: number, days: readonly DaySummary[]): DayHistory {
  return {
    firstObservedAtMs,
    past: days.slice(0, -1),
    open: requireValue(days.at(-1), 'the day of the newest reading'),
  };
}
