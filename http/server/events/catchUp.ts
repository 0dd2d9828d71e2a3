import type { FeedNews } from '../../../actors/views/feed/feedViews.ts';

/** Clients that may wait for ClickHouse at the same time; the others wait for one of these. */
export const catchUpReadsMax = 8;

interface CatchUpOptions<Client> {
  /** The next events that a client has missed, or a function that reads them; null while the feed is not available. */
  readonly findMissed: (client: Client) => FeedNews | (() => Promise<FeedNews>) | null;
  /** Sends them, and adds the client again where it has missed more and takes it. */
  readonly deliver: (client: Client, missed: FeedNews) => void;
  /** While it is true nobody has a turn: what costs little goes first. */
  readonly isOverloaded: () => boolean;
  readonly onReadFailed: () => void;
}

/** Clients of the event stream that have missed events. They take turns: one of them is sent one batch in a turn of the event loop. */
interface CatchUp<Client> {
  /**
   * A client that is behind has a turn. Whoever could not be served, since nothing could be read or the event loop was late, has to be added again
   * after a while; for one that waits already that is a reminder.
   */
  add(client: Client): void;
  remove(client: Client): void;
}

export function createCatchUp<Client>(options: CatchUpOptions<Client>): CatchUp<Client> {
  const { findMissed, deliver, isOverloaded, onReadFailed } = options;
  const queue = new Set<Client>();
  /** Those for whom something is being read, or was read and is sent in one of the next turns. */
  const readers = new Set<Client>();
  const waitingReaders = new Set<Client>();
  const found: { readonly client: Client; readonly missed: FeedNews }[] = [];
  let reads = 0;
  let isScheduled = false;

  function schedule() {
    if (isScheduled || queue.size + found.length === 0) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function takeTurn() {
    isScheduled = false;
    if (isOverloaded()) return;
    // What was read goes first: it waits in memory, and others wait for its place.
    const ready = found.shift();
    if (ready === undefined) serveNext();
    else deliverRead(ready.client, ready.missed);
    schedule();
  }

  function serveNext() {
    const [client] = queue;
    if (client === undefined) return;
    queue.delete(client);
    const missed = findMissed(client);
    if (missed === null) queue.clear();
    else if (typeof missed !== 'function') deliver(client, missed);
    else if (reads < catchUpReadsMax) read(client, missed);
    else waitingReaders.add(client);
  }

  function read(client: Client, readMissed: () => Promise<FeedNews>) {
    reads++;
    readers.add(client);
    readMissed().then(
      (missed) => {
        found.push({ client, missed });
        schedule();
      },
      () => {
        if (endRead(client)) onReadFailed();
        schedule();
      },
    );
  }

  function deliverRead(client: Client, missed: FeedNews) {
    if (endRead(client)) deliver(client, missed);
  }

  /** @returns whether the client is still there. */
  function endRead(client: Client): boolean {
    reads--;
    const [next] = waitingReaders;
    if (next !== undefined) {
      waitingReaders.delete(next);
      queue.add(next);
    }
    return readers.delete(client);
  }

  return {
    add: (client) => {
      if (!readers.has(client) && !waitingReaders.has(client)) queue.add(client);
      schedule();
    },
    remove: (client) => {
      for (const clients of [queue, readers, waitingReaders]) clients.delete(client);
    },
  };
}
