import { formatClock, formatDay, formatDayOf, type Zone } from '../format/times.ts';

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

/** Time of a minute of a universal day, as ISO 8601. */
function findTime(date: string, minuteUtc: number): string {
  const dayMinutes = minuteUtc < halfDay ? minuteUtc + 2 * halfDay : minuteUtc;
  return new Date(Date.parse(date) + dayMinutes * minuteMs).toISOString();
}

/** Time of a minute of a universal day, such as `08:30`. */
export function formatMinuteOfDay(date: string, minuteUtc: number, zone: Zone): string {
  return formatClock(findTime(date, minuteUtc), zone).slice(0, 5);
}

/** Names a half hour, such as `08:30–09:00 UTC`. */
export function formatHalfHour(date: string, startMinuteUtc: number, zone: Zone): string {
  const end = (startMinuteUtc + 30) % (2 * halfDay);
  return `${formatMinuteOfDay(date, startMinuteUtc, zone)}–${formatMinuteOfDay(date, end, zone)} ${zone}`;
}

/** The same with its universal day, and with its date where that is another one: `22 Nov (on 23 Nov), 08:30–09:00 UTC`. */
export function formatDayAndHalfHour(date: string, startMinuteUtc: number, zone: Zone): string {
  const [day, calendarDay] = [formatDay(date), formatDayOf(findTime(date, startMinuteUtc), zone)];
  const on = day === calendarDay ? '' : ` (on ${calendarDay})`;
  return `${day}${on}, ${formatHalfHour(date, startMinuteUtc, zone)}`;
}

/** Labels every four hours below a universal day, from its noon to the next. */
export function listDayTicks(date: string, zone: Zone): string[] {
  const ticks = [720, 960, 1_200, 0, 240, 480].map((minute) => formatMinuteOfDay(date, minute, zone));
  return [...ticks, ticks[0] as string];
}
