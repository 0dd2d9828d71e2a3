import { catchError, EMPTY, from, lastValueFrom, timeout } from 'rxjs';

/** Waits for something to settle, for at most `ms`. A failure is ignored, since it is being ended anyway. */
export async function within(ms: number, ending: Promise<unknown>): Promise<void> {
  await lastValueFrom(
    from(ending).pipe(
      timeout(ms),
      catchError(() => EMPTY),
    ),
    { defaultValue: undefined },
  );
}
