import { findTime, noonMinute } from './charts/halfHours.ts';
import { dayMs } from './rounds.ts';

/** Beginning and end of a universal day, in epoch milliseconds: from its noon to the next. */
export function findDaySpan(date: string): readonly [startMs: number, endMs: number] {
  const startMs = Date.parse(findTime(date, noonMinute));
  return [startMs, startMs + dayMs];
}

/** Date of the universal day that holds a time in epoch milliseconds. */
export function findDay(atMs: number): string {
  return new Date(atMs - dayMs / 2).toISOString().slice(0, 10);
}

/** The date some days after another. */
export function addDays(date: string, count: number): string {
  return new Date(Date.parse(date) + count * dayMs).toISOString().slice(0, 10);
}

/** Whether a text is a date in ISO 8601, such as `2026-11-25`. */
export function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return parseDate(Number(year), Number(month), Number(day)) !== null;
}

/** Returns a date in ISO 8601, such as `2026-11-25`, if there is such a day; otherwise null. */
export function parseDate(year: number, month: number, day: number): string | null {
  const atMs = Date.UTC(year, month - 1, day);
  const date = Number.isNaN(atMs) ? null : new Date(atMs);
  // 30 February would be 2 March.
  const isDate = date !== null && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate && year > 999 && year < 10_000 ? date.toISOString().slice(0, 10) : null;
}
