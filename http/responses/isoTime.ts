/** The latest time that ISO 8601 writes with four digits of a year: what a contract holds beyond it is shown as this one. */
const latestShownMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A time in ISO 8601, at most the end of the year 9999.
 *
 * @param timeMs epoch milliseconds.
 */
export function toIsoString(timeMs: number): string {
  return new Date(Math.min(timeMs, latestShownMs)).toISOString();
}

export function toIsoStringOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toIsoString(timeMs);
}
