/** How long to wait after the first of several consecutive failures, and at most. */
export interface BackoffBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Suits most work: retry soon at first, and every five seconds eventually. */
export const defaultBackoff: BackoffBounds = { firstMs: 250, longestMs: 5_000 };

/**
 * The rule for what the service itself tries again: the wait doubles after each failure, up to a bound, and varies by a quarter, so that many clients that
 * failed together do not return together. Others have rules of their own: those who read the service (`http/client/spreadDelay.ts`), who may not come
 * before it asks them to, and the connection to NATS (`streams/jetstream/reconnectDelay.ts`), whose client counts no failures.
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

/** A delay of a machine that counts its consecutive failures. */
export function backoffDelay(
  bounds: BackoffBounds = defaultBackoff,
  random: () => number = () => Math.random(),
) {
  return ({ context: { failures } }: { readonly context: { readonly failures: number } }): number =>
    backoffMs(failures, random(), bounds);
}
