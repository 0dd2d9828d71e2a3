import { time } from '../format/times.ts';

/** Minute of a calendar day at which a universal day starts, and so minutes in half a day. */
export const noonMinute = 720;
const minuteMs = 60_000;

/**
 * Sorts half hours in the order of a universal day, noon to noon. Routes list them in clock order, so their first half belongs to the calendar
 * date after the day's label (CONTRACT.md, Terms of the statistics).
 */
export function inDayOrder<Slot extends { readonly startMinuteUtc: number }>(slots: readonly Slot[]): Slot[] {
  return [
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc >= noonMinute),
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc < noonMinute),
  ];
}

/** Time of a minute of a universal day, in ISO 8601. */
export function findTime(date: string, minuteUtc: number): string {
  const dayMinutes = minuteUtc < noonMinute ? minuteUtc + 2 * noonMinute : minuteUtc;
  return new Date(Date.parse(date) + dayMinutes * minuteMs).toISOString();
}

/** Labels every four hours below a universal day, from its noon to the next. */
export function listDayTicks(date: string): string[] {
  const noonMs = Date.parse(findTime(date, noonMinute));
  return [0, 1, 2, 3, 4, 5, 6].map((index) =>
    time('hour', new Date(noonMs + index * 240 * minuteMs).toISOString()),
  );
}
