import { dayMs } from '../../actors/schemas/durations.ts';

/** Days from 1 March of year 0, where the Gregorian calendar's 400 years begin, to 1970. */
const daysTo1970 = 719_468;
const daysOf400Years = 146_097;

/** The latest time that ISO 8601 writes with four digits of a year: what a contract holds beyond it is shown as this one. */
const latestShownMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const twoDigits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));
const two = (value: number) => twoDigits[value] as string;

/**
 * A time from the year 0 on, through the end of 9999, as `Date.prototype.toISOString` writes it, in half of its time: a page of
 * observations has two hundred of them. Dates are counted from 1 March, so that leap days come last (the civil calendar of
 * Howard Hinnant).
 *
 * @param timeMs whole epoch milliseconds.
 */
export function toIsoString(timeMs: number): string {
  return format(Math.min(timeMs, latestShownMs));
}

export function toIsoStringOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toIsoString(timeMs);
}

function format(timeMs: number): string {
  const day = Math.floor(timeMs / dayMs);
  const ofDayMs = timeMs - day * dayMs;
  const shifted = day + daysTo1970;
  const era = Math.floor(shifted / daysOf400Years);
  const dayOfEra = shifted - era * daysOf400Years;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const seconds = Math.floor(ofDayMs / 1_000);
  const minutes = Math.floor(seconds / 60);
  const millis = ofDayMs - seconds * 1_000;
  const date = `${two(Math.floor(year / 100))}${two(year % 100)}-${two(month)}-${two(dayOfMonth)}`;
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${date}T${time}.${millis < 100 ? '0' : ''}${millis < 100 ? two(millis) : millis}Z`;
}
