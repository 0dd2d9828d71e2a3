import { defer, from, ignoreElements, map, mergeMap, type Observable, Subject, takeUntil, tap } from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { followEvents } from '../support/http/followEvents.ts';
import { createSentEvents, type FeedEvent } from '../support/http/sentEvents.ts';
import { whenFinished } from '../support/processes/lifetime.ts';

const reconnectMs = 1_000;

/** Clients of the event stream, which resume after each kill, with their observations. */
interface Listeners {
  readonly events: number;
  /** Events that one client got twice, of the same block. */
  readonly doubled: readonly string[];
  /** Events that one client got again with another block: a reorganization had moved the transaction to it. */
  readonly minedAgain: number;
  /** Whether every client got this event. */
  haveAll(event: FeedEvent): boolean;
  /** Number of events that clients did not get, over all clients. */
  countMissed(feed: readonly FeedEvent[]): number;
  end(): void;
}

export function startListeners(url: () => string, count: number): Listeners {
  const ended$ = new Subject<void>();
  const sentTo = Array.from({ length: count }, createSentEvents);
  const state = { events: 0, minedAgain: 0 };
  const doubled: string[] = [];
  const open = (headers: Readonly<Record<string, string>>) =>
    fromFetch(`${url()}/v1/events/stream`, { headers, selector: readPieces });
  const note = (event: FeedEvent, was: 'never' | 'ofAnotherBlock' | 'before') => {
    state.events++;
    if (was === 'before') doubled.push(`${event.id} of block ${event.source.blockHash}`);
    if (was === 'ofAnotherBlock') state.minedAgain++;
  };
  from(sentTo)
    .pipe(
      mergeMap((sent) =>
        followEvents(open, () => reconnectMs).pipe(tap((event) => note(event, sent.note(event)))),
      ),
      takeUntil(ended$),
    )
    .subscribe();
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

/** Text pieces of the stream. A service that is not ready answers JSON instead, which is read and dropped. */
function readPieces(response: Response): Observable<string> {
  if (!response.ok || response.body === null)
    return defer(() => response.arrayBuffer()).pipe(ignoreElements());
  const decoder = new TextDecoder();
  return from(response.body).pipe(map((piece) => decoder.decode(piece, { stream: true })));
}
