import { formatDate, formatDay } from '../../addresses/days.ts';
import { dayMs, halfHourMs } from '../rounds.ts';

/** Formats the routes' ISO 8601 times in UTC, or in the visitor's own zone. Dates alone name universal days, and are the same in both. */
export type Zone = 'UTC' | 'local';

const minuteMs = 60_000;

/** Minutes by which clocks of the zone are ahead of UTC. */
function findOffset(atMs: number, zone: Zone): number {
  // Not -0.
  return zone === 'UTC' ? 0 : 0 - new Date(atMs).getTimezoneOffset();
}

/** The digits that clocks of the zone show. */
function toZone(iso: string, zone: Zone): string {
  const atMs = Date.parse(iso);
  return new Date(atMs + findOffset(atMs, zone) * minuteMs).toISOString();
}

/** The zone to put after a time, as an offset: `UTC`, `UTC−4`, `UTC+5:30`. An abbreviation would name two times when clocks are put back. */
export function nameZone(iso: string, zone: Zone): string {
  return formatOffset(findOffset(Date.parse(iso), zone));
}

/** Formats minutes ahead of UTC as `UTC−4` or `UTC+5:30`. */
function formatOffset(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const ahead = Math.abs(minutes);
  const part = ahead % 60 === 0 ? '' : `:${pad(ahead % 60)}`;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(ahead / 60)}${part}`;
}

/** `08:05:29`. */
export function formatClock(iso: string, zone: Zone): string {
  return toZone(iso, zone).slice(11, 19);
}

/** `22 Nov 08:05`. */
export function formatDayAndMinute(iso: string, zone: Zone): string {
  return `${formatDayOf(iso, zone)} ${formatClock(iso, zone).slice(0, 5)}`;
}

/** `22 Nov 2026 08:05:29`. The browser's own format would take a third of the first rendering to load. */
export function formatDateAndClock(iso: string, zone: Zone): string {
  return `${formatDate(toZone(iso, zone))} ${formatClock(iso, zone)}`;
}

/** The calendar's day of a time, as `22 Nov`. */
export function formatDayOf(iso: string, zone: Zone): string {
  return formatDay(toZone(iso, zone));
}

/** Formats seconds as `4 min 05 s`, `45 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(totalSeconds: number): string {
  const seconds = Math.max(0, Math.floor(totalSeconds));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${pad(Math.floor(seconds / 60) % 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor(seconds / 3_600) % 24} h`;
}

/** How long before a time another one is, such as `8 min 03 s ago`, or how long after it: `in 45 s`. */
export function formatAge(iso: string, nowMs: number): string {
  const seconds = (Date.parse(iso) - nowMs) / 1_000;
  return seconds >= 1 ? `in ${formatDuration(seconds)}` : `${formatDuration(-seconds)} ago`;
}

/** Formats whole minutes: `95` is `1 h 35 min`, and `120` is `2 h`. */
export function formatMinutes(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${pad(minutes % 60)} min`}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/**
 * Texts with times in them, such as `‹halfHour 2026-11-25T08:30:00.000Z›: 12 work units`. The server writes the times in UTC, the page's script in the
 * zone that the visitor has chosen.
 */

/** `08:30`. */
const formatHour = (iso: string, zone: Zone) => formatClock(iso, zone).slice(0, 5);

/** `08:30–09:00 UTC`, by the clocks of its beginning. */
function formatHalfHour(start: string, zone: Zone): string {
  const shown = Date.parse(toZone(start, zone));
  const [from, to] = [shown, shown + halfHourMs].map((atMs) =>
    formatHour(new Date(atMs).toISOString(), 'UTC'),
  );
  return `${from}–${to} ${nameZone(start, zone)}`;
}

/** The same with its universal day, and with its date where that is another one: `22 Nov (on 23 Nov), 08:30–09:00 UTC`. */
function formatDayAndHalfHour(start: string, zone: Zone): string {
  const day = formatDay(new Date(Date.parse(start) - dayMs / 2).toISOString());
  const calendarDay = formatDayOf(start, zone);
  return `${day}${day === calendarDay ? '' : ` (on ${calendarDay})`}, ${formatHalfHour(start, zone)}`;
}

type Format = (at: string, zone: Zone) => string;

const formats = {
  minute: (at, zone) => `${formatDayAndMinute(at, zone)} ${nameZone(at, zone)}`,
  hour: formatHour,
  day: formatDayOf,
  dayAndHour: formatDayAndMinute,
  halfHour: formatHalfHour,
  dayAndHalfHour: formatDayAndHalfHour,
  zone: (_, zone) => (zone === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone),
} satisfies Record<string, Format>;

export type TimeFormat = keyof typeof formats;

/** A time within a text, to be written by `writeTimes`. */
export function time(format: TimeFormat, iso = ''): string {
  return `‹${format} ${iso}›`;
}

/** Writes the times of a text in a zone. */
export function writeTimes(text: string, zone: Zone): string {
  return text.replace(/‹([^›]*)›/g, (_, content: string) => {
    const [format = '', at = ''] = content.split(' ');
    return (formats as Record<string, Format | undefined>)[format]?.(at, zone) ?? at;
  });
}
