/** The latest time that a `Date` holds (epoch milliseconds). */
export const latestTimeMs = 8_640_000_000_000_000;
/** A day of UTC, which has no leap seconds, and as much of a universal day. */
export const dayMs = 86_400_000;
export const nanosPerMillisecond = 1_000_000n;

export function toMilliseconds(nanos: bigint): number {
  return Number(nanos / nanosPerMillisecond);
}
