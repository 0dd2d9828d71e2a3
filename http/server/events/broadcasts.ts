/** Clients served by a broadcast in one turn of the event loop. */
const batchSize = 50;

/** Delivers messages to many clients, a batch of clients per turn of the event loop, so that other requests get their turn. */
export function createBroadcasts<Client>() {
  /** Oldest first. */
  const broadcasts: {
    readonly recipients: readonly Client[];
    readonly deliver: (client: Client) => void;
    next: number;
  }[] = [];

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
    /** Delivers after all earlier broadcasts. The first clients may get the message before this returns. */
    start: (recipients: readonly Client[], deliver: (client: Client) => void) => {
      if (broadcasts.push({ recipients, deliver, next: 0 }) === 1) deliverNextBatch();
    },
    clear: () => {
      broadcasts.length = 0;
    },
  };
}
