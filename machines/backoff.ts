/** The wait after the first of several consecutive failures, and the longest wait, before {@link backoffMs} varies them. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Retries soon at first, and about every five seconds eventually. */
export const defaultBackoff: BackoffBounds = { firstMs: 250, longestMs: 5_000 };

/**
 * Wait before the service retries (milliseconds). It doubles after each failure, up to a bound, and varies by a quarter, so that clients that
 * failed together do not return together. Two retries follow their own rules: clients of the service obey its `Retry-After`
 * (`http/explorer/browser/spreadDelay.ts`), and the NATS client does not count failures (`streams/nats/reconnectDelay.ts`).
 *
 * @param failures number of consecutive failures, from 1.
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

/** Delay for a machine whose context counts consecutive failures. */
export function backoffDelay(
  bounds: BackoffBounds = defaultBackoff,
  random: () => number = () => Math.random(),
) {
  return ({ context: { failures } }: { readonly context: { readonly failures: number } }): number =>
    backoffMs(failures, random(), bounds);
}
