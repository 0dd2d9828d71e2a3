import { createParser } from 'eventsource-parser';
import { readFeed } from '../../support/http/readFeed.ts';
import {
  createSentEvents,
  type FeedEvent,
  type Restart,
  type SentEvents,
} from '../../support/http/sentEvents.ts';
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
  const open = new Set<AbortController>();
  let isTrusted = true;
  let sentTo: SentEvents[] = [];
  const fail = (detail: string) => onFailure(new SimulationFailure('event stream', detail));

  /** A proxy sends nobody to a process that is never ready. */
  const isStandby = ({ domain, service }: ServiceProcess) =>
    world.time.within(domain, () => 'standbyFor' in service.readiness().detail);

  /** Whether its block was replaced and came back. */
  const hasReturned = ({ source: { blockHash } }: FeedEvent) =>
    blockHash !== undefined && world.chain.hasReturnedTo(blockHash);

  function receive(sent: SentEvents, event: FeedEvent | Restart) {
    if (sent.note(event) && 'id' in event && isTrusted && !hasReturned(event))
      fail(`${event.id} was sent twice`);
  }

  async function listen(sent: SentEvents) {
    let lastId = '';
    while (sentTo.includes(sent)) {
      const serving = fleet.alive.filter((process) => !isStandby(process));
      if (serving.length > 0)
        await read(random.pick(serving), lastId, ({ id, event, data }) => {
          lastId = id ?? lastId;
          if (event !== 'position') receive(sent, JSON.parse(data));
        });
      await world.sleep(random.integer(1, awayMsMax));
    }
  }

  /** Reads from a process until it dies or ends the stream, or the client leaves. */
  async function read(
    process: ServiceProcess,
    lastId: string,
    onEvent: NonNullable<Parameters<typeof createParser>[0]['onEvent']>,
  ) {
    const leaving = new AbortController();
    open.add(leaving);
    const parser = createParser({ onEvent });
    const onPiece = (text: string) => {
      if (!leaving.signal.aborted) parser.feed(text);
    };
    const headers = lastId === '' ? {} : { 'last-event-id': lastId };
    process.listen('/v1/events/stream', headers, { leaving: leaving.signal, onPiece }).then((response) => {
      if (response !== null && response.status >= 400 && response.status < 500)
        fail(`a client was refused with ${response.status}`);
      leaving.abort();
    });
    const leavesAtMs = world.time.nowMs() + random.integer(stayMs.least, stayMs.most);
    while (process.isAlive && !leaving.signal.aborted && world.time.nowMs() < leavesAtMs)
      await world.sleep(lookMs);
    leaving.abort();
    open.delete(leaving);
  }

  function restart() {
    for (const leaving of open) leaving.abort();
    sentTo = Array.from({ length: listenersMax }, createSentEvents);
    for (const sent of sentTo) void listen(sent);
  }
  restart();

  return {
    /** Received events may disappear and return until they restart. */
    distrust: () => {
      isTrusted = false;
    },
    /** They forget received events and begin again. */
    restart: () => {
      isTrusted = true;
      restart();
    },
    /** Checks that each received the feed after its first event, each event once. */
    check: async (process: ServiceProcess) => {
      const feed = await readFeed((path) => readBody(process, path));
      const endMs = world.time.nowMs() + sentMs;
      for (;;) {
        const missed = sentTo.flatMap((sent) => sent.findMissed(feed));
        const [first] = missed;
        if (first === undefined) return;
        if (world.time.nowMs() > endMs) {
          const detail = `${missed.length} were not sent, of them ${first.id}`;
          throw new SimulationFailure('event stream', detail);
        }
        await world.sleep(lookMs);
      }
    },
  };
}

async function readBody(process: ServiceProcess, path: string): Promise<unknown> {
  const response = await process.get(path);
  if (response?.status === 200) return JSON.parse(response.body.toString('utf8'));
  throw new SimulationFailure('event stream', `${process.name} does not show the feed: ${response?.body}`);
}
