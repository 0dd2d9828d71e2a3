import type { SimulatedNats } from '../nats/simulatedNats.ts';
import type { Random } from '../world/random.ts';

export interface Publication {
  readonly subject: string;
  readonly messageId: string | null;
  readonly body: Buffer;
}

/** Most waiting and most remembered messages. */
const waitingMax = 2_000;
const publishedMax = 500;

/** Publishes to one stream in order. Messages wait while it is unavailable, and some are published again. */
export function createPublisher(nats: SimulatedNats, streamName: string, random: Random) {
  const published: Publication[] = [];
  let waiting: Publication[] = [];

  function flush() {
    while (waiting.length > 0 && nats.isUp) {
      const stream = nats.store.streams.get(streamName);
      if (stream === undefined) return;
      const { subject, messageId, body } = waiting[0] as Publication;
      try {
        nats.store.publish(stream, subject, body, { id: messageId ?? undefined });
      } catch {
        return;
      }
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
    /** Publishes what waits, if the stream is available. */
    flush,
    /** Publishes an earlier message again, as after a lost acknowledgement. */
    sendAgain: () => {
      if (published.length > 0) send(random.pick(published));
    },
  };
}
