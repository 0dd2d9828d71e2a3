import { createParser } from 'eventsource-parser';
import { catchError, defer, EMPTY, Observable, repeat, timer } from 'rxjs';
import type { FeedEvent } from './sentEvents.ts';

/** Opens the event stream. Emits its events, and completes or fails when it ends. */
type OpenEventStream = (headers: Readonly<Record<string, string>>) => Observable<string>;

/** Events for a client that resumes after the last one whenever its stream ends. */
export function followEvents(open: OpenEventStream, pauseMs: () => number): Observable<FeedEvent> {
  return defer(() => {
    let lastId = '';
    const readOnce = () =>
      new Observable<FeedEvent>((subscriber) => {
        const parser = createParser({
          onEvent: ({ id, data }) => {
            lastId = id ?? lastId;
            // An event as in the feed; a position without an event has no data.
            if (data !== '') subscriber.next(JSON.parse(data) as FeedEvent);
          },
        });
        return open(lastId === '' ? {} : { 'last-event-id': lastId }).subscribe({
          next: (text) => parser.feed(text),
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
      });
    return defer(readOnce).pipe(
      // The process was killed, or is starting.
      catchError(() => EMPTY),
      repeat({ delay: () => timer(pauseMs()) }),
    );
  });
}
