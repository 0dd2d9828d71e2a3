import { createParser } from 'eventsource-parser';
import { catchError, concatMap, defer, EMPTY, type Observable, repeat, timer } from 'rxjs';
import type { FeedEvent, Restart } from './sentEvents.ts';

/** Opens the event stream. Emits its events, and completes or fails when it ends. */
type OpenEventStream = (headers: Readonly<Record<string, string>>) => Observable<string>;

/** Messages for a client that resumes after the last one whenever its stream ends. */
export function followEvents(open: OpenEventStream, pauseMs: () => number): Observable<FeedEvent | Restart> {
  return defer(() => {
    let lastId = '';
    const readOnce = () => {
      const events: (FeedEvent | Restart)[] = [];
      const parser = createParser({
        onEvent: ({ id, event, data }) => {
          lastId = id ?? lastId;
          if (event !== 'position') events.push(JSON.parse(data));
        },
      });
      return open(lastId === '' ? {} : { 'last-event-id': lastId }).pipe(
        concatMap((text) => {
          parser.feed(text);
          return events.splice(0);
        }),
      );
    };
    return defer(readOnce).pipe(
      // The process was killed, or is starting.
      catchError(() => EMPTY),
      repeat({ delay: () => timer(pauseMs()) }),
    );
  });
}
