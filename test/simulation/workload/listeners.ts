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
import type { Fleet } from '../processes/simulatedFleet.ts';
import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

interface ListenersOptions {
  readonly world: SimulatedWorld;
  readonly fleet: Fleet;
  /** Called when one of them received an event twice without a restart of its source. */
  readonly onFailure: (failure: SimulationFailure) => void;
}

const listenersMax = 3;
const lookMs = 500;
const stayMs = { least: 2_000, most: 60_000 };
const awayMsMax = 3_000;
/** Every client has received the feed of a ready process by then, also after resuming. */
const sentMs = 90_000;

/**
 * Starts clients of the event stream that listen until the simulation ends. They leave or lose their process, and resume at another one from
 * `Last-Event-ID`.
 */
export function startListeners({ world, fleet, onFailure }: ListenersOptions) {
  const random = world.random.fork('listeners');
  const restart$ = new Subject<void>();
  let isTrusted = true;
  let sentTo: SentEvents[] = [];

  /** A proxy sends nobody to a process that is never ready. */
  const isStandby = ({ domain, service }: ServiceProcess) =>
    world.time.within(domain, () => 'standbyFor' in service.readiness().detail);

  /** Reads from a process until it dies, ends the stream, or the client leaves. */
  const open = (headers: Readonly<Record<string, string>>): Observable<string> =>
    defer(() => {
      const serving = fleet.alive.filter((process) => !isStandby(process));
      if (serving.length === 0) return EMPTY;
      const process = random.pick(serving);
      const leaves$ = timer(random.integer(stayMs.least, stayMs.most));
      const dies$ = interval(lookMs).pipe(filter(() => !process.isAlive));
      return read(process, headers, onRefused).pipe(takeUntil(merge(leaves$, dies$)));
    });

  const onRefused = (status: number) =>
    onFailure(new SimulationFailure('event stream', `a client was refused with ${status}`));

  /** Whether its block was replaced and came back. */
  const hasReturned = ({ source: { blockHash } }: FeedEvent) =>
    blockHash !== undefined && world.chain.hasReturnedTo(blockHash);

  const listen = (sent: SentEvents) =>
    followEvents(open, () => random.integer(1, awayMsMax)).pipe(
      tap((event) => {
        if (sent.note(event) && 'id' in event && isTrusted && !hasReturned(event))
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
    /** Received events may disappear and return until they restart. */
    distrust: () => {
      isTrusted = false;
    },
    /** They forget received events and begin again. */
    restart: () => {
      isTrusted = true;
      restart$.next();
    },
    /** Checks that each received the feed after its first event, each event once. */
    check: async (process: ServiceProcess) => {
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

function read(
  process: ServiceProcess,
  headers: Readonly<Record<string, string>>,
  onRefused: (status: number) => void,
): Observable<string> {
  return new Observable((subscriber) => {
    const leaving = new AbortController();
    const onPiece = (text: string) => subscriber.next(text);
    process.listen('/v1/events/stream', headers, { leaving: leaving.signal, onPiece }).then((response) => {
      if (response !== null && response.status >= 400 && response.status < 500) onRefused(response.status);
      subscriber.complete();
    });
    return () => leaving.abort();
  });
}

async function readBody(process: ServiceProcess, path: string): Promise<unknown> {
  const response = await process.get(path);
  if (response?.status === 200) return JSON.parse(response.body.toString('utf8'));
  throw new SimulationFailure('event stream', `${process.name} does not show the feed: ${response?.body}`);
}
