/** How long to wait after the first of several consecutive failures, and at most. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Suits most work: retry soon at first, and every five seconds eventually. */
export const defaultBackoff: BackoffBounds = { firstMs: 250, longestMs: 5_000 };

/**
 * The one rule for all retries of the service: the wait doubles after each failure, up to a bound, and varies by a quarter, so that many clients that
 * failed together do not return together.
 *
 * @param failures consecutive ones, from 1.
 * @param random from 0 to 1.
 */
export function backoffMs(
  failures: number,
  random: number,
  { firstMs, longestMs }: BackoffBounds = defaultBackoff,
): number {
  const doubled = firstMs * 2 ** Math.min(failures - 1, 30);
  return Math.round(Math.min(doubled, longestMs) * (0.75 + random / 2));
}
