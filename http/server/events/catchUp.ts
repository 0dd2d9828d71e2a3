import type { FeedNews } from '../../../actors/views/feed/feedNews.ts';

/** Clients that may wait for ClickHouse at the same time; others wait until one of them is done. */
export const catchUpReadsMax = 8;

interface CatchUpOptions<Client> {
  /** The next events that a client has missed, or a function that reads them; null while the feed is unavailable. */
  readonly findMissed: (client: Client) => FeedNews | (() => Promise<FeedNews>) | null;
  /** Sends the events. Adds the client again if it has missed more and is ready for it. */
  readonly deliver: (client: Client, missed: FeedNews) => void;
  /** While this is true no client has a turn, so that cheap requests go first. */
  readonly isOverloaded: () => boolean;
  readonly onReadFailed: () => void;
}

/** Clients of the event stream that have missed events. In each turn of the event loop one of them is sent one batch. */
export function createCatchUp<Client>(options: CatchUpOptions<Client>) {
  const { findMissed, deliver, isOverloaded, onReadFailed } = options;
  const queue = new Set<Client>();
  /** Clients whose events are being read, or were read and wait to be sent. */
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
    // Events that were read go first: they take memory, and other clients wait for their place.
    const ready = found.shift();
    if (ready === undefined) serveNext();
    else if (endRead(ready.client)) deliver(ready.client, ready.missed);
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

  /** @returns whether the client is still connected. */
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
    /**
     * Gives a client a turn. The caller adds the clients that are behind again after a while, since a turn is lost if a read fails
     * or the event loop is late. Adding a waiting client again does no harm.
     */
    add: (client: Client) => {
      if (!readers.has(client) && !waitingReaders.has(client)) queue.add(client);
      schedule();
    },
    remove: (client: Client) => {
      for (const clients of [queue, readers, waitingReaders]) clients.delete(client);
    },
  };
}
