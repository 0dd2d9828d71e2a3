/** The latest time with a four-digit year. Later times, which a contract may hold, are shown as this one. */
const latestShownMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * @param timeMs epoch milliseconds.
 * @returns the time in ISO 8601, at most the end of the year 9999.
 */
export function toIsoString(timeMs: number): string {
  return new Date(Math.min(timeMs, latestShownMs)).toISOString();
}

export function toIsoStringOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toIsoString(timeMs);
}
