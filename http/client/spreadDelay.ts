export interface DelayBounds {
  readonly firstMs: number;
  readonly longestMs: number;
}

/**
 * Milliseconds before another attempt: twice as many after each failure, up to a bound, at least as many as were asked for, and up to a fifth
 * more, so that clients that failed together do not come back together. The service's own retries vary both ways (`machines/backoff.ts`); here a wait
 * may only become longer, since the service says how long it has to be. The client is a package that imports nothing of the service.
 *
 * @param failures attempts that failed in a row, from 1.
 * @param askedMs what the service asks for (`Retry-After`); 0 where it says nothing.
 */
export function spreadDelay(failures: number, { firstMs, longestMs }: DelayBounds, askedMs = 0): number {
  const ownMs = Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(askedMs, ownMs) * (1 + Math.random() * 0.2);
}
