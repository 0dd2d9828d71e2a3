import { defer, fromEvent, type Observable, of, take } from 'rxjs';

/** Emits once when a signal is aborted, immediately if it already is. */
export function whenAborted(signal: AbortSignal): Observable<unknown> {
  return defer(() => (signal.aborted ? of(undefined) : fromEvent(signal, 'abort').pipe(take(1))));
}
