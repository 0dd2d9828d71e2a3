import { defer, lastValueFrom, map, merge, retry, timer } from 'rxjs';
import { type BackoffBounds, backoffMs } from '../../machines/backoff.ts';
import { whenAborted } from './whenAborted.ts';

interface RetryOptions {
  /** Aborting ends the wait between two attempts; a running attempt is awaited. */
  readonly signal: AbortSignal;
  /** Called with the first failure, unless it came after the abort. */
  readonly onFirstFailure: (error: unknown) => void;
  readonly backoff?: BackoffBounds;
}

/**
 * Repeats an attempt, with backoff, until one succeeds, and returns its result.
 *
 * @throws the signal's reason when it is aborted before an attempt has succeeded.
 */
export async function retryUntilAvailable<Result>(
  attempt: () => Promise<Result>,
  { signal, onFirstFailure, backoff }: RetryOptions,
): Promise<Result> {
  const throwReason = () => signal.throwIfAborted();
  throwReason();
  return lastValueFrom(
    defer(attempt).pipe(
      retry({
        delay: (error, failures) => {
          throwReason();
          if (failures === 1) onFirstFailure(error);
          const backoff$ = timer(backoffMs(failures, Math.random(), backoff));
          return merge(backoff$, whenAborted(signal).pipe(map(throwReason)));
        },
      }),
    ),
  );
}
