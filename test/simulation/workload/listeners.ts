import {
  defer,
  EMPTY,
  filter,
  from,
  interval,
  merge,
  mergeMap,
  Observable,
  Subject,
  startWith,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { followEvents } from '../../support/http/followEvents.ts';
import { readFeed } from '../../support/http/readFeed.ts';
import { createSentEvents, type FeedEvent, type SentEvents } from '../../support/http/sentEvents.ts';
import { SimulationFailure } from '../checks/failure.ts';
import type { Fleet } from '../processes/fleet.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

/** Clients of the event stream, which leave or lose their process, and resume at another one from `Last-Event-ID`. */
export interface Listeners {
  /** What they have been sent may be gone, and come again, until they restart. */
  distrust(): void;
  /** They forget what they have been sent, and begin again. */
  restart(): void;
  /** Each was sent what the feed holds behind the first event of it, and every event once. */
  check(process: ServiceProcess): Promise<void>;
}

interface ListenersOptions {
  readonly world: SimulatedWorld;
  readonly fleet: Fleet;
  /** One of them was sent what it should not have been. */
  readonly onFailure: (failure: SimulationFailure) => void;
}

const listenersMax = 3;
const lookMs = 500;
const stayMs = { least: 2_000, most: 60_000 };
const awayMsMax = 3_000;
/** Everybody has been sent by then what a process shows that is ready: the next batch of those that resume, behind an interval. */
const sentMs = 90_000;

/** They listen for as long as the world turns. */
export function startListeners({ world, fleet, onFailure }: ListenersOptions): Listeners {
  const random = world.random.fork('listeners');
  const restart$ = new Subject<void>();
  let isTrusted = true;
  let sentTo: SentEvents[] = [];

  /** From a process until it is dead, ends the stream, or the client goes. */
  const open = (headers: Readonly<Record<string, string>>): Observable<string> =>
    defer(() => {
      if (fleet.alive.length === 0) return EMPTY;
      const process = random.pick(fleet.alive);
      const leaves$ = timer(random.integer(stayMs.least, stayMs.most));
      const dies$ = interval(lookMs).pipe(filter(() => !process.isAlive));
      return read(process, headers).pipe(takeUntil(merge(leaves$, dies$)));
    });

  /** Whether a reorganization has withdrawn it, and another one brought it back. */
  const hasReturned = ({ source: { blockHash } }: FeedEvent) =>
    blockHash !== undefined && world.chain.hasReturnedTo(blockHash);

  const listen = (sent: SentEvents) =>
    followEvents(open, () => random.integer(1, awayMsMax)).pipe(
      tap((event) => {
        if (sent.note(event) === 'before' && isTrusted && !hasReturned(event))
          onFailure(new SimulationFailure('event stream', `${event.id} was sent twice`));
      }),
    );

  restart$
    .pipe(
      startWith(undefined),
      switchMap(() => {
        sentTo = Array.from({ length: listenersMax }, createSentEvents);
        return from(sentTo).pipe(mergeMap(listen));
      }),
    )
    .subscribe();

  return {
    distrust: () => {
      isTrusted = false;
    },
    restart: () => {
      isTrusted = true;
      restart$.next();
    },
    check: async (process) => {
      const feed = await readFeed((path) => readBody(process, path));
      const endMs = world.time.nowMs() + sentMs;
      for (;;) {
        const missed = sentTo.flatMap((sent) => sent.findMissed(feed));
        const [first] = missed;
        if (first === undefined) return;
        if (world.time.nowMs() > endMs)
          throw new SimulationFailure('event stream', `${missed.length} were not sent, of them ${first.id}`);
        await world.sleep(lookMs);
      }
    },
  };
}

function read(process: ServiceProcess, headers: Readonly<Record<string, string>>): Observable<string> {
  return new Observable((subscriber) => {
    const leaving = new AbortController();
    const onPiece = (text: string) => subscriber.next(text);
    process
      .listen('/v1/events/stream', headers, { leaving: leaving.signal, onPiece })
      .then(() => subscriber.complete());
    return () => leaving.abort();
  });
}

async function readBody(process: ServiceProcess, path: string): Promise<unknown> {
  const response = await process.get(path);
  if (response?.status === 200) return JSON.parse(response.body.toString('utf8'));
  throw new SimulationFailure('event stream', `${process.name} does not show the feed: ${response?.body}`);
}
