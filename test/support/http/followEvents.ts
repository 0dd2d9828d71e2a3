import { createParser } from 'eventsource-parser';
import { catchError, defer, EMPTY, Observable, repeat, timer } from 'rxjs';
import type { FeedEvent } from './sentEvents.ts';

/** Opens the event stream; emits what arrives, and completes or fails where it ends. */
type OpenEventStream = (headers: Readonly<Record<string, string>>) => Observable<string>;

/** The events that a client is sent which, whenever its stream ends, opens it again behind the last one. */
export function followEvents(open: OpenEventStream, pauseMs: () => number): Observable<FeedEvent> {
  return defer(() => {
    let lastId = '';
    const readOnce = () =>
      new Observable<FeedEvent>((subscriber) => {
        const parser = createParser({
          onEvent: ({ id, data }) => {
            lastId = id ?? lastId;
            // An event as in the feed; a position alone has none.
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
      // Its process was killed, or is just being started.
      catchError(() => EMPTY),
      repeat({ delay: () => timer(pauseMs()) }),
    );
  });
}
