/** Clients that a broadcast reaches in one turn of the event loop. */
const batchSize = 50;

interface Broadcast<Client> {
  readonly recipients: readonly Client[];
  readonly deliver: (client: Client) => void;
  next: number;
}

/** Messages for many clients: some clients in a turn of the event loop, so that no other request waits for all of them. */
export interface Broadcasts<Client> {
  /** Each client gets it behind all that was started before. The first ones may get it at once. */
  start(recipients: readonly Client[], deliver: (client: Client) => void): void;
  clear(): void;
}

export function createBroadcasts<Client>(): Broadcasts<Client> {
  /** Oldest first. */
  const broadcasts: Broadcast<Client>[] = [];

  function deliverNextBatch() {
    const [broadcast] = broadcasts;
    if (broadcast === undefined) return;
    const { recipients, deliver, next } = broadcast;
    broadcast.next += batchSize;
    for (const client of recipients.slice(next, broadcast.next)) deliver(client);
    if (broadcast.next >= recipients.length) broadcasts.shift();
    if (broadcasts.length > 0) setImmediate(deliverNextBatch);
  }

  return {
    start: (recipients, deliver) => {
      if (broadcasts.push({ recipients, deliver, next: 0 }) === 1) deliverNextBatch();
    },
    clear: () => {
      broadcasts.length = 0;
    },
  };
}
