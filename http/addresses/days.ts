import { dayMs, noonMs } from '../../actors/schemas/durations.ts';

export const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `22 Nov`. */
export function formatDay(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${months[Number(iso.slice(5, 7)) - 1]}`;
}

/** `22 Nov 2026`. */
export function formatDate(iso: string): string {
  return `${formatDay(iso)} ${iso.slice(0, 4)}`;
}

/** Beginning and end of a universal day, in epoch milliseconds: from its noon to the next. */
export function findDaySpan(date: string): readonly [startMs: number, endMs: number] {
  const startMs = Date.parse(date) + noonMs;
  return [startMs, startMs + dayMs];
}

/** Date of the universal day that holds a time in epoch milliseconds. */
export function findDay(atMs: number): string {
  return new Date(atMs - noonMs).toISOString().slice(0, 10);
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
