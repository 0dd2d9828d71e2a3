import { exhaustMap, filter, firstValueFrom, interval, NEVER, takeUntil, takeWhile, timer } from 'rxjs';

interface PollOptions {
  readonly everyMs: number;
  /** It is abandoned after this time; never where this is left out. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Asks whether a condition is met, at once and then in an interval: ClickHouse sends no notifications. One question at a time; a question that
 * fails ends it.
 *
 * @returns whether it was met before the limit and the abort.
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
