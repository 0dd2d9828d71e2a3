import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { dayMs } from '../schemas/durations.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import type { CounterReading } from './counterReading.ts';
import { type RoundRow, roundMs } from './roundFold.ts';

/** A universal day runs from noon to noon UTC (CONTRACT.md, Time, rounds and days). */
const noonMs = dayMs / 2;
export const roundsPerDay = dayMs / roundMs;
/** Days whose rounds are stored one by one: the longest window, and the day that a late round can still close in. */
const detailedDaysMax = 31;
/**
 * Days before the open one whose sums are known one by one. A window needs 30 of them; what is older counts in sums over the lifetime alone,
 * so it is added up. More than that only so that days count when they have begun, should a gateway's clock be ahead of this service's by up to a year.
 */
export const pastDaysMax = 400;

/** Start of the universal day that holds a time (epoch milliseconds). */
export function findDayStart(timeMs: number): number {
  return Math.floor((timeMs - noonMs) / dayMs) * dayMs + noonMs;
}

/** The label of a universal day: the calendar date of its first noon. */
export function formatDayLabel(startMs: number): string {
  return new Date(startMs).toISOString().slice(0, 10);
}

/** A largest value with the time of the first reading that had it. */
const peak = z.strictObject({ value: count, atMs: milliseconds });
export type Peak = Inferred<typeof peak>;

/** Sums of one universal day in which something was accepted. */
export const daySums = z.strictObject({
  startMs: milliseconds,
  observedRoundCount: count,
  workUnits: amount,
  /** Largest distance of its readings; null before the first. */
  distanceMm: count.nullable(),
  peakRpmMilli: peak.nullable(),
  peakSpeedMmPerSecond: peak.nullable(),
});

/** One universal day in which something was accepted. Immutable. */
export interface DaySummary extends Inferred<typeof daySums> {
  /** Work of its observed rounds by their place in the day; null for a day that is too old to be shown in detail. */
  readonly rounds: ReadonlyMap<number, bigint> | null;
}

export const historyStart = z.strictObject({
  firstObservedAtMs: milliseconds,
  /** Sums of the days that are not known one by one any more; null while there are none. */
  earlier: z
    .strictObject({
      activeDayCount: count,
      observedRoundCount: count,
      workUnits: amount,
      distanceMm: amount,
    })
    .nullable(),
});
type EarlierDays = NonNullable<DayHistory['earlier']>;

/** Everything that the statistics of one installation need. Immutable. */
export interface DayHistory extends Inferred<typeof historyStart> {
  /** Ascending, at most {@link pastDaysMax}; a day without anything accepted is missing. */
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
  reading: CounterReading,
  closed: RoundRow | null,
): DayHistory {
  const startMs = findDayStart(reading.observedAtMs);
  if (history === null) {
    return {
      firstObservedAtMs: reading.observedAtMs,
      earlier: null,
      past: [],
      open: withPeaks(createEmptyDay(startMs), reading),
    };
  }
  const open = closed === null ? history.open : withRound(history.open, closed);
  if (open.startMs === startMs) {
    const changed = withPeaks(open, reading);
    if (changed === history.open) return history;
    const { firstObservedAtMs, earlier, past } = history;
    return { firstObservedAtMs, earlier, past, open: changed };
  }
  const past = [...history.past, open];
  const tooOld = past.length - detailedDaysMax;
  if (tooOld >= 0) past[tooOld] = { ...(past[tooOld] as DaySummary), rounds: null };
  return addUpEarlier({ ...history, past, open: withPeaks(createEmptyDay(startMs), reading) });
}

/** Adds the oldest days up where there are more than are known one by one. */
function addUpEarlier(history: DayHistory): DayHistory {
  const surplus = history.past.length - pastDaysMax;
  if (surplus <= 0) return history;
  const earlier = history.past.slice(0, surplus).reduce(addDay, history.earlier ?? noDays);
  return { ...history, earlier, past: history.past.slice(surplus) };
}

const noDays: EarlierDays = { activeDayCount: 0, observedRoundCount: 0, workUnits: 0n, distanceMm: 0n };

function addDay(sums: EarlierDays, { workUnits, observedRoundCount, distanceMm }: DaySummary): EarlierDays {
  return {
    activeDayCount: sums.activeDayCount + (workUnits > 0n ? 1 : 0),
    observedRoundCount: sums.observedRoundCount + observedRoundCount,
    workUnits: sums.workUnits + workUnits,
    distanceMm: sums.distanceMm + BigInt(distanceMm ?? 0),
  };
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

/** Those that are known one by one, ascending. */
export function listDays({ past, open }: DayHistory): readonly DaySummary[] {
  return [...past, open];
}

/** The history of these days, ascending, and of those before them; the last one is that of the newest reading. */
export function toHistory(start: Inferred<typeof historyStart>, days: readonly DaySummary[]): DayHistory {
  return {
    ...start,
    past: days.slice(0, -1),
    open: requireValue(days.at(-1), 'the day of the newest reading'),
  };
}
