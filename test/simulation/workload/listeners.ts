import { createParser } from 'eventsource-parser';
import { SimulationFailure } from '../checks/failure.ts';
import type { Fleet } from '../processes/fleet.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

/** Clients of the event stream, which leave or lose their process, and resume at another one from `Last-Event-ID`. */
export interface Listeners {
  /** Until `isOver`. */
  run(isOver: () => boolean): Promise<void>;
  /** What they have been sent may be gone, and come again, until they restart. */
  distrust(): void;
  /** They forget what they have been sent. */
  restart(): void;
  /** Each was sent what the feed holds behind the first event of it, and every event once. */
  check(process: ServiceProcess): Promise<void>;
}

interface FeedEvent {
  readonly id: string;
  readonly recordedAt: string;
}

interface Listener {
  /** Events that it was sent, by their IDs. */
  seen: Map<string, FeedEvent>;
  lastId: string;
  restarts: number;
}

const listenersMax = 3;
const lookMs = 500;
const stayMs = { least: 2_000, most: 60_000 };
const awayMsMax = 3_000;
/** Everybody has been sent by then what a process shows that is ready: the next batch of those that resume, behind an interval. */
const sentMs = 90_000;
const pagesMax = 100;

export function createListeners(world: SimulatedWorld, fleet: Fleet): Listeners {
  const random = world.random.fork('listeners');
  let isTrusted = true;
  let failure: SimulationFailure | null = null;
  const listeners = Array.from(
    { length: listenersMax },
    (): Listener => ({ seen: new Map(), lastId: '', restarts: 0 }),
  );

  /** Reads from a process until it is dead, ends the stream, or the client goes. */
  async function listen(listener: Listener, process: ServiceProcess, isOver: () => boolean) {
    const leaving = new AbortController();
    let isEnded = false;
    const { lastId, restarts } = listener;
    const isOpen = () => !isEnded && listener.restarts === restarts;
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        listener.lastId = id ?? listener.lastId;
        if (event === undefined) return;
        // An event as in the feed.
        const sent = JSON.parse(data) as FeedEvent;
        if (isTrusted && listener.seen.has(sent.id))
          failure ??= new SimulationFailure('event stream', `${process.name} sent ${sent.id} twice`);
        listener.seen.set(sent.id, sent);
      },
    });
    const headers = lastId === '' ? {} : { 'last-event-id': lastId };
    process
      .listen('/v1/events/stream', headers, {
        leaving: leaving.signal,
        onPiece: (text) => {
          if (isOpen()) parser.feed(text);
        },
      })
      .then(() => {
        isEnded = true;
      });
    const untilMs = world.time.nowMs() + random.integer(stayMs.least, stayMs.most);
    while (isOpen() && process.isAlive && world.time.nowMs() < untilMs && !isOver())
      await world.sleep(lookMs);
    isEnded = true;
    leaving.abort();
    if (failure !== null) throw failure;
  }

  async function runOne(listener: Listener, isOver: () => boolean) {
    while (!isOver()) {
      const { alive } = fleet;
      if (alive.length > 0) await listen(listener, random.pick(alive), isOver);
      await world.sleep(random.integer(1, awayMsMax));
    }
  }

  return {
    run: async (isOver) => {
      await Promise.all(listeners.map((listener) => runOne(listener, isOver)));
    },
    distrust: () => {
      isTrusted = false;
    },
    restart: () => {
      isTrusted = true;
      for (const listener of listeners) {
        Object.assign(listener, { seen: new Map(), lastId: '' });
        listener.restarts++;
      }
    },
    check: async (process) => {
      const feed = await readFeed(process);
      const endMs = world.time.nowMs() + sentMs;
      for (;;) {
        const missed = listeners.flatMap((listener) => findMissed(feed, listener));
        const [first] = missed;
        if (first === undefined) return;
        if (world.time.nowMs() > endMs) fail(`${missed.length} events were not sent, of them ${first}`);
        await world.sleep(lookMs);
      }
    },
  };
}

function fail(detail: string): never {
  throw new SimulationFailure('event stream', detail);
}

/** Those that came behind the first one of the same source that the client was sent. */
function findMissed(feed: readonly FeedEvent[], { seen }: Listener): string[] {
  return ['chain', 'measurement'].flatMap((source) => {
    const own = feed.filter(({ id }) => id.startsWith(`${source}:`));
    const times = own.filter(({ id }) => seen.has(id)).map(({ recordedAt }) => recordedAt);
    const [firstAt] = times.sort();
    if (firstAt === undefined) return [];
    return own.filter(({ id, recordedAt }) => recordedAt > firstAt && !seen.has(id)).map(({ id }) => id);
  });
}

async function readFeed(process: ServiceProcess): Promise<FeedEvent[]> {
  const events: FeedEvent[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page++) {
    const query: string = cursor === null ? '' : `&cursor=${cursor}`;
    const response = await process.get(`/v1/events?limit=100${query}`);
    if (response?.status !== 200) fail(`${process.name} does not show the feed: ${response?.body}`);
    // A page of the feed.
    const body = JSON.parse(response.body.toString('utf8')) as {
      readonly events?: readonly FeedEvent[];
      readonly nextCursor?: string | null;
    };
    events.push(...(body.events ?? []));
    cursor = body.nextCursor ?? null;
    if (cursor === null) break;
  }
  return events;
}
