import { createParser } from 'eventsource-parser';
import {
  catchError,
  defer,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  mergeMap,
  type Observable,
  repeat,
  Subject,
  takeUntil,
  tap,
} from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { createSentEvents, type FeedEvent, type SentEvents } from '../support/http/sentEvents.ts';
import { whenFinished } from '../support/processes/lifetime.ts';

const reconnectMs = 1_000;

/** Clients of the event stream, which resume after each kill; what they have seen. */
export interface Listeners {
  readonly events: number;
  /** Events that one of them was sent twice, of the same block. */
  readonly doubled: readonly string[];
  /** Events that one of them was sent again with another block: a reorganization had replaced the one before, with the same transaction in both. */
  readonly minedAgain: number;
  /** Whether everybody has been sent this event. */
  haveAll(event: FeedEvent): boolean;
  /** How many events were not sent, of all clients. */
  countMissed(feed: readonly FeedEvent[]): number;
  end(): void;
}

export function startListeners(url: () => string, count: number): Listeners {
  const ended$ = new Subject<void>();
  const sentTo = Array.from({ length: count }, createSentEvents);
  const state = { events: 0, minedAgain: 0 };
  const doubled: string[] = [];

  const listen = (sent: SentEvents) => {
    let lastId = '';
    const parser = createParser({
      onEvent: ({ id, data }) => {
        // An event as in the feed.
        const event = JSON.parse(data) as FeedEvent;
        const was = sent.note(event);
        if (was === 'before') doubled.push(`${event.id} of block ${event.source.blockHash}`);
        if (was === 'ofAnotherBlock') state.minedAgain++;
        state.events++;
        lastId = id ?? lastId;
      },
    });
    return defer(() => {
      const decoder = new TextDecoder();
      return fromFetch(`${url()}/v1/events/stream`, {
        headers: lastId === '' ? {} : { 'Last-Event-ID': lastId },
        selector: readPieces,
      }).pipe(tap((piece) => parser.feed(decoder.decode(piece, { stream: true }))));
    }).pipe(
      // The process was killed, or is just being started.
      catchError(() => EMPTY),
      finalize(() => parser.reset()),
      repeat({ delay: reconnectMs }),
    );
  };

  from(sentTo).pipe(mergeMap(listen), takeUntil(ended$)).subscribe();
  const end = () => ended$.next();
  whenFinished(end);
  return {
    get events() {
      return state.events;
    },
    doubled,
    get minedAgain() {
      return state.minedAgain;
    },
    haveAll: (event) => sentTo.every((sent) => sent.has(event)),
    countMissed: (feed) => sentTo.reduce((missed, sent) => missed + sent.findMissed(feed).length, 0),
    end,
  };
}

/** Where it is not ready, the service says so in JSON, and there is no stream to read. */
function readPieces(response: Response): Observable<Uint8Array> {
  return response.ok && response.body !== null
    ? from(response.body)
    : defer(() => response.arrayBuffer()).pipe(ignoreElements());
}
