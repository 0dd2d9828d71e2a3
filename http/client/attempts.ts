import { mayPass, ServiceError } from './serviceError.ts';
import { spreadDelay } from './spreadDelay.ts';

const longestDelayMs = 30_000;

export interface AttemptSettings {
  /** Largest number of attempts of a request whose failure may be temporary. Default: 5. */
  readonly attemptsMax?: number;
  /** Milliseconds before the second attempt, doubled for each further one, up to 30 seconds. Default: 500. */
  readonly firstDelayMs?: number;
}

/**
 * @returns milliseconds before the next attempt, at least as many as the service asks for.
 *
 * @param failures consecutive failed attempts, from 1.
 */
export function chooseDelayMs(
  error: unknown,
  failures: number,
  { firstDelayMs = 500 }: AttemptSettings,
): number {
  const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
  return spreadDelay(failures, { firstMs: firstDelayMs, longestMs: longestDelayMs }, askedMs);
}

/** @throws the reason of the signal once it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Repeats work that fails for temporary reasons.
 *
 * @throws the last error, once all attempts have failed.
 */
export async function attempt<Result>(
  work: () => Promise<Result>,
  settings: AttemptSettings & { readonly onFailure?: ((error: unknown) => void) | undefined },
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (failures >= (settings.attemptsMax ?? 5) || !mayPass(error)) throw error;
      settings.onFailure?.(error);
      await sleep(chooseDelayMs(error, failures, settings), signal);
    }
  }
}
