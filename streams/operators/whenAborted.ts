import { Observable } from 'rxjs';

/** Emits once when a signal is aborted, at once where it is already. */
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
