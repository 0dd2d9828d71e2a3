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
import { whenFinished } from '../support/processes/lifetime.ts';
import type { FeedEvent } from './readFeed.ts';

const reconnectMs = 1_000;

/** Clients of the event stream, which resume after each kill; what they have seen. */
export interface Listeners {
  readonly events: number;
  /** Events that one of them was sent twice, of the same block. */
  readonly doubled: readonly string[];
  /** Events that one of them was sent again with another block: a reorganization had replaced the one before, with the same transaction in both. */
  readonly minedAgain: number;
  /** Whether everybody has been sent this event. */
  haveAll(eventId: string): boolean;
  /** Events that came after the first one that a client was sent, and that it was not sent; of all clients. */
  countMissed(feed: readonly FeedEvent[]): number;
  end(): void;
}

export function startListeners(url: () => string, count: number): Listeners {
  const ended$ = new Subject<void>();
  const seenBy = Array.from({ length: count }, () => new Map<string, string>());
  const state = { events: 0, minedAgain: 0 };
  const doubled: string[] = [];

  const listen = (seen: Map<string, string>) => {
    let lastId = '';
    const parser = createParser({
      onEvent: ({ id, data }) => {
        const { id: eventId, source } = JSON.parse(data) as FeedEvent;
        const block = source.blockHash ?? '';
        const before = seen.get(eventId);
        if (before === block) doubled.push(`${eventId} of block ${block}`);
        else if (before !== undefined) state.minedAgain++;
        seen.set(eventId, block);
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

  from(seenBy).pipe(mergeMap(listen), takeUntil(ended$)).subscribe();
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
    haveAll: (eventId) => seenBy.every((seen) => seen.has(eventId)),
    countMissed: (feed) =>
      seenBy.reduce((missed, seen) => {
        const [firstAt = ''] = feed
          .filter(({ id }) => seen.has(id))
          .map(({ recordedAt }) => recordedAt)
          .sort();
        if (firstAt === '') return missed + feed.length;
        return missed + feed.filter(({ id, recordedAt }) => recordedAt > firstAt && !seen.has(id)).length;
      }, 0),
    end,
  };
}

/** Where it is not ready, the service says so in JSON, and there is no stream to read. */
function readPieces(response: Response): Observable<Uint8Array> {
  return response.ok && response.body !== null
    ? from(response.body)
    : defer(() => response.arrayBuffer()).pipe(ignoreElements());
}
