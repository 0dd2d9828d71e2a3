import { defer, lastValueFrom, map, merge, retry, timer } from 'rxjs';
import { type BackoffBounds, backoffMs } from '../../machines/backoff.ts';
import { whenAborted } from './whenAborted.ts';

export interface RetryOptions {
  /** Aborting ends the waiting between two attempts; an attempt that is under way is awaited. */
  readonly signal: AbortSignal;
  /** Told of each failure but those after the abort; `failures` in a row, from 1. */
  readonly onFailure: (error: unknown, failures: number) => void;
  readonly backoff?: BackoffBounds;
}

/**
 * The result of the first attempt that succeeds; another one follows each that fails, later and later.
 *
 * @throws the signal's reason when it is aborted before an attempt has succeeded.
 */
export async function retryUntilAvailable<Result>(
  attempt: () => Promise<Result>,
  { signal, onFailure, backoff }: RetryOptions,
): Promise<Result> {
  const throwReason = () => signal.throwIfAborted();
  throwReason();
  return lastValueFrom(
    defer(attempt).pipe(
      retry({
        delay: (error, failures) => {
          throwReason();
          onFailure(error, failures);
          const backoff$ = timer(backoffMs(failures, Math.random(), backoff));
          return merge(backoff$, whenAborted(signal).pipe(map(throwReason)));
        },
      }),
    ),
  );
}
