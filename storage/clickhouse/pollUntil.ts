import { exhaustMap, filter, firstValueFrom, interval, NEVER, takeUntil, takeWhile, timer } from 'rxjs';

interface PollOptions {
  readonly everyMs: number;
  /** Gives up after this time; never if omitted. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Checks a condition at once, then at an interval, since ClickHouse sends no notifications. Checks never overlap. If one fails, so does the
 * promise.
 *
 * @returns whether the condition was met before the limit and the abort.
 */
export async function pollUntil(
  isMet: () => boolean | Promise<boolean>,
  { everyMs, limitMs, signal }: PollOptions,
): Promise<boolean> {
  if (await isMet()) return true;
  const answers$ = interval(everyMs).pipe(
    takeWhile(() => signal?.aborted !== true),
    exhaustMap(async () => isMet()),
    takeUntil(limitMs === undefined ? NEVER : timer(limitMs)),
  );
  return firstValueFrom(answers$.pipe(filter(Boolean)), { defaultValue: false });
}
