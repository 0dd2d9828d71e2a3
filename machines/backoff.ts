/** How long is waited after so many failures in a row. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** What most parts do: try again soon, and every five seconds in the end. */
export const defaultBackoff: BackoffBounds = { firstMs: 250, longestMs: 5_000 };

/**
 * The one rule by which everything here is tried again: twice as long after each failure, up to a bound, and a quarter more or less, so that many
 * that failed together do not come back together.
 *
 * @param failures in a row, from 1.
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
