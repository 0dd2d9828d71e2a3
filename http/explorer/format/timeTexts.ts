import { dayMs, halfHourMs } from '../rounds.ts';
import {
  findOffset,
  formatClock,
  formatDay,
  formatDayAndMinute,
  formatDayOf,
  formatOffset,
  nameZone,
  type Zone,
} from './times.ts';

/**
 * Texts with times in them, such as `‹halfHour 2026-11-25T08:30:00.000Z›: 12 work units`. The server writes the times in UTC, the page's script in the
 * zone that the visitor has chosen.
 */

/** `08:30`. */
const formatHour = (iso: string, zone: Zone) => formatClock(iso, zone).slice(0, 5);

/** `08:30–09:00 UTC`. If clocks are changed within it, both times have their offset. */
function formatHalfHour(start: string, zone: Zone): string {
  const startMs = Date.parse(start);
  const endMs = startMs + halfHourMs;
  const [from, to] = [formatHour(start, zone), formatHour(new Date(endMs).toISOString(), zone)];
  const [offset, endOffset] = [findOffset(startMs, zone), findOffset(endMs, zone)];
  return offset === endOffset
    ? `${from}–${to} ${nameZone(start, zone)}`
    : `${from} ${formatOffset(offset)}–${to} ${formatOffset(endOffset)}`;
}

/** The same with its universal day, and with its date where that is another one: `22 Nov (on 23 Nov), 08:30–09:00 UTC`. */
function formatDayAndHalfHour(start: string, zone: Zone): string {
  const day = formatDay(new Date(Date.parse(start) - dayMs / 2).toISOString());
  const calendarDay = formatDayOf(start, zone);
  return `${day}${day === calendarDay ? '' : ` (on ${calendarDay})`}, ${formatHalfHour(start, zone)}`;
}

/** The zone of hours that stand for all days of a span: UTC if clocks are changed within it, when local hours would be wrong for some of them. */
function chooseSpanZone(since: string, until: string, zone: Zone): Zone {
  const offsets = new Set<number>();
  for (let atMs = Date.parse(since); atMs <= Date.parse(until); atMs += dayMs)
    offsets.add(findOffset(atMs, zone));
  return offsets.size > 1 ? 'UTC' : zone;
}

type Format = (zone: Zone, first: string, second: string, third: string) => string;

const formats = {
  clock: (zone, at) => `${formatClock(at, zone)} ${nameZone(at, zone)}`,
  minute: (zone, at) => `${formatDayAndMinute(at, zone)} ${nameZone(at, zone)}`,
  hour: (zone, at) => formatHour(at, zone),
  day: (zone, at) => formatDayOf(at, zone),
  dayAndHour: (zone, at) => formatDayAndMinute(at, zone),
  halfHour: (zone, start) => formatHalfHour(start, zone),
  dayAndHalfHour: (zone, start) => formatDayAndHalfHour(start, zone),
  /** An hour of every day between two times. */
  hourOfSpan: (zone, at, since, until) => formatHour(at, chooseSpanZone(since, until, zone)),
  zoneOfSpan: (zone, since, until) => chooseSpanZone(since, until, zone),
  zone: (zone) => (zone === 'UTC' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone),
} satisfies Record<string, Format>;

export type TimeFormat = keyof typeof formats;

/** A time within a text, to be written by `writeTimes`. */
export function time(format: TimeFormat, ...values: readonly string[]): string {
  return `‹${[format, ...values].join(' ')}›`;
}

/** Writes the times of a text in a zone. */
export function writeTimes(text: string, zone: Zone): string {
  return text.replace(/‹([^›]*)›/g, (_, content: string) => {
    const [format = '', first = '', second = '', third = ''] = content.split(' ');
    return (formats as Record<string, Format | undefined>)[format]?.(zone, first, second, third) ?? first;
  });
}
