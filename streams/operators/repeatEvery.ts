import { catchError, EMPTY, exhaustMap, from, ignoreElements, interval, type Observable } from 'rxjs';

/** Takes a step at each interval while subscribed, one after another, also after one that fails; emits nothing. */
export function repeatEvery(everyMs: number, step: () => Promise<unknown>): Observable<never> {
  return interval(everyMs).pipe(
    exhaustMap(() => from(step()).pipe(catchError(() => EMPTY))),
    ignoreElements(),
  );
}
