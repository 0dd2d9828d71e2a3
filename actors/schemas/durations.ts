/** The latest time that a `Date` holds (epoch milliseconds). */
export const latestTimeMs = 8_640_000_000_000_000;
/** Length of a UTC day and of a universal day. There are no leap seconds. */
export const dayMs = 86_400_000;
/** Time of a UTC day at which a universal day begins. */
export const noonMs = dayMs / 2;
export const nanosPerMillisecond = 1_000_000n;

export function toMilliseconds(nanos: bigint): number {
  return Number(nanos / nanosPerMillisecond);
}

/** A time in ISO 8601, for people; a round that the oracle closes may end after the latest time of a `Date`. */
export function describeTime(ms: number | bigint): string {
  return ms <= latestTimeMs ? new Date(Number(ms)).toISOString() : 'a time after the year 275760';
}

const durationUnits = [
  ['year', 365 * dayMs],
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
  ['millisecond', 1],
] as const;

/** A duration in its two largest units, for people: `1 day 2 hours`. */
export function describeDuration(ms: number | bigint): string {
  let left = BigInt(ms);
  const parts: string[] = [];
  for (const [unit, unitMs] of durationUnits) {
    const units = left / BigInt(unitMs);
    left %= BigInt(unitMs);
    if (units > 0n) parts.push(`${units} ${unit}${units === 1n ? '' : 's'}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 milliseconds';
}
