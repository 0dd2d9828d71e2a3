import type { SimulatedNats } from '../nats/natsServer.ts';
import type { Random } from '../world/random.ts';

export interface Publication {
  readonly subject: string;
  readonly messageId: string | null;
  readonly body: Buffer;
}

/** Publishes to one stream, in order; what cannot be published waits, and some of it is published again. */
interface Publisher {
  send(publication: Publication): void;
  /** What was published before is published once more, perhaps much later, as after an acknowledgement that was not heard. */
  sendAgain(): void;
}

/** As far as a publisher keeps what it cannot publish, and what it has published. */
const waitingMax = 2_000;
const publishedMax = 500;

export function createPublisher(nats: SimulatedNats, streamName: string, random: Random): Publisher {
  const published: Publication[] = [];
  let waiting: Publication[] = [];

  function flush() {
    while (waiting.length > 0 && nats.isUp) {
      const stream = nats.store.streams.get(streamName);
      if (stream === undefined) return;
      const { subject, messageId, body } = waiting[0] as Publication;
      const headers =
        messageId === null ? null : Buffer.from(`NATS/1.0\r\nNats-Msg-Id: ${messageId}\r\n\r\n`);
      if ('error' in nats.store.publish(stream, subject, headers, body)) return;
      published.push(waiting.shift() as Publication);
      if (published.length > publishedMax) published.shift();
    }
  }

  const send = (publication: Publication) => {
    waiting = [...waiting, publication].slice(-waitingMax);
    flush();
  };
  return {
    send,
    sendAgain: () => {
      if (published.length > 0) send(random.pick(published));
    },
  };
}
