import { catchError, concatMap, defer, EMPTY, type Observable, repeat, timer } from 'rxjs';
import { createMessageReader } from './messageReader.ts';
import type { FeedEvent } from './sentEvents.ts';

/** Opens the event stream. Emits its events, and completes or fails when it ends. */
type OpenEventStream = (headers: Readonly<Record<string, string>>) => Observable<string>;

/** Events for a client that resumes after the last one whenever its stream ends. */
export function followEvents(open: OpenEventStream, pauseMs: () => number): Observable<FeedEvent> {
  return defer(() => {
    let lastId = '';
    const readOnce = () => {
      const read = createMessageReader();
      return open(lastId === '' ? {} : { 'last-event-id': lastId }).pipe(
        concatMap((text) =>
          read(text).flatMap((message) => {
            lastId = message.get('id') ?? lastId;
            // An event as in the feed; a position without an event has no data.
            const data = message.get('data');
            return data === undefined ? [] : [JSON.parse(data) as FeedEvent];
          }),
        ),
      );
    };
    return defer(readOnce).pipe(
      // The process was killed, or is starting.
      catchError(() => EMPTY),
      repeat({ delay: () => timer(pauseMs()) }),
    );
  });
}
