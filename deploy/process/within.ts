import { catchError, EMPTY, from, lastValueFrom, timeout } from 'rxjs';

/** Waits at most `ms` for an ending. Ignores its failure, since it is being ended anyway. */
export async function within(ms: number, ending: Promise<unknown>): Promise<void> {
  await lastValueFrom(
    from(ending).pipe(
      timeout(ms),
      catchError(() => EMPTY),
    ),
    { defaultValue: undefined },
  );
}
