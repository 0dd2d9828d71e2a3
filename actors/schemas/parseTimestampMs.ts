import { dayMs } from './durations.ts';

const digitZero = 48;

/**
 * Epoch milliseconds of an ISO 8601 UTC date-time that fits the `timestamp` schema. Written out for the form that gateways send,
 * `2026-01-31T12:00:00.000Z`: `Date.parse` takes several times as long, and each reading has two timestamps.
 */
export function parseTimestampMs(text: string): number {
  if (text.length !== 24) return Date.parse(text);
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const timeMs =
    digits(text, 11, 2) * 3_600_000 +
    digits(text, 14, 2) * 60_000 +
    digits(text, 17, 2) * 1_000 +
    digits(text, 20, 3);
  return daysSinceEpoch(year, month, day) * dayMs + timeMs;
}

function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let index = from; index < from + count; index++)
    value = value * 10 + text.charCodeAt(index) - digitZero;
  return value;
}

/** Days of the proleptic Gregorian calendar. Years begin in March, so that a leap day is the last day of its year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shiftedYear = month > 2 ? year : year - 1;
  const monthFromMarch = month > 2 ? month - 3 : month + 9;
  const leapDays =
    Math.floor(shiftedYear / 4) - Math.floor(shiftedYear / 100) + Math.floor(shiftedYear / 400);
  return shiftedYear * 365 + leapDays + Math.floor((153 * monthFromMarch + 2) / 5) + day - 719_469;
}
