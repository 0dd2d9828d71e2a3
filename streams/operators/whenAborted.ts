import { Observable } from 'rxjs';

/** Emits once when a signal is aborted, immediately if it already is. */
export function whenAborted(signal: AbortSignal): Observable<void> {
  return new Observable((subscriber) => {
    const emit = () => {
      subscriber.next();
      subscriber.complete();
    };
    if (signal.aborted) return emit();
    signal.addEventListener('abort', emit);
    return () => signal.removeEventListener('abort', emit);
  });
}
