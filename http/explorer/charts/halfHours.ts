import {
  findOffset,
  formatClock,
  formatDay,
  formatDayOf,
  formatOffset,
  nameZone,
  type Zone,
} from '../format/times.ts';

/** Minutes in half a day; a universal day starts at noon. */
const halfDay = 720;
const minuteMs = 60_000;

/**
 * Sorts half hours in the order of a universal day, noon to noon. Routes list them in clock order, so their first half belongs to the calendar
 * date after the day's label (CONTRACT.md, Terms of the statistics).
 */
export function inDayOrder<Slot extends { readonly startMinuteUtc: number }>(slots: readonly Slot[]): Slot[] {
  return [
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc >= halfDay),
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc < halfDay),
  ];
}

/** Time of a minute of a universal day, in epoch milliseconds. */
function findTime(date: string, minuteUtc: number): number {
  const dayMinutes = minuteUtc < halfDay ? minuteUtc + 2 * halfDay : minuteUtc;
  return Date.parse(date) + dayMinutes * minuteMs;
}

/** Formats a time as `08:30`. */
function formatTime(atMs: number, zone: Zone): string {
  return formatClock(new Date(atMs).toISOString(), zone).slice(0, 5);
}

/** Time of a minute of a universal day, such as `08:30`. */
export function formatMinuteOfDay(date: string, minuteUtc: number, zone: Zone): string {
  return formatTime(findTime(date, minuteUtc), zone);
}

/** Names a half hour, such as `08:30–09:00 UTC`. If clocks are changed within it, both times have their offset. */
export function formatHalfHour(date: string, startMinuteUtc: number, zone: Zone): string {
  const startMs = findTime(date, startMinuteUtc);
  const endMs = startMs + 30 * minuteMs;
  const [start, end] = [formatTime(startMs, zone), formatTime(endMs, zone)];
  const [offset, endOffset] = [findOffset(startMs, zone), findOffset(endMs, zone)];
  if (offset !== endOffset) return `${start} ${formatOffset(offset)}–${end} ${formatOffset(endOffset)}`;
  return `${start}–${end} ${nameZone(new Date(startMs).toISOString(), zone)}`;
}

/** The same with its universal day, and with its date where that is another one: `22 Nov (on 23 Nov), 08:30–09:00 UTC`. */
export function formatDayAndHalfHour(date: string, startMinuteUtc: number, zone: Zone): string {
  const start = new Date(findTime(date, startMinuteUtc)).toISOString();
  const [day, calendarDay] = [formatDay(date), formatDayOf(start, zone)];
  const on = day === calendarDay ? '' : ` (on ${calendarDay})`;
  return `${day}${on}, ${formatHalfHour(date, startMinuteUtc, zone)}`;
}

/** Labels every four hours below a universal day, from its noon to the next. */
export function listDayTicks(date: string, zone: Zone): string[] {
  const noonMs = findTime(date, halfDay);
  return [0, 1, 2, 3, 4, 5, 6].map((index) => formatTime(noonMs + index * 240 * minuteMs, zone));
}

/** The zone of hours that stand for all of these universal days: UTC if clocks are changed within them, when local hours would be wrong for some of them. */
export function chooseDaysZone(dates: readonly string[], zone: Zone): Zone {
  const offsets = dates.flatMap((date) => {
    const noonMs = findTime(date, halfDay);
    return [findOffset(noonMs, zone), findOffset(noonMs + 2 * halfDay * minuteMs, zone)];
  });
  return new Set(offsets).size > 1 ? 'UTC' : zone;
}
