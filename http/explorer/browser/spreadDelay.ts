interface DelayBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * @returns milliseconds before the next attempt. They double after each failure up to a bound, and are at least as many as the service asks for. Up to a
 * fifth is added, so that pages that failed together do not return together.
 *
 * Random variation may also shorten the service's own retries (`machines/backoff.ts`). Here a delay only grows, since the service says how long it must be.
 *
 * @param failures consecutive failed attempts, from 1.
 * @param askedMs delay from `Retry-After`; 0 without one.
 */
export function spreadDelay(failures: number, { firstMs, longestMs }: DelayBounds, askedMs = 0): number {
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(askedMs, ownMs) * (1 + Math.random() * 0.2);
}

/** @returns milliseconds from `Retry-After`; 0 without one, or for a date, which proxies may send. */
export function readRetryAfter(response: Response | null): number {
  const value = response?.headers.get('Retry-After') ?? '';
  return /^\d+$/.test(value) ? Number(value) * 1_000 : 0;
}
