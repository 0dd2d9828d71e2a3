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
