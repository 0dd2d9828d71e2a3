import { PubHeaders } from '@nats-io/jetstream';
import { headers, nuid } from '@nats-io/transport-node';
import type { JetStream } from '../nats/natsLink.ts';

const acknowledgementMs = 5_000;

export type RejectedStream = ReturnType<typeof createRejectedStream>;

/** `MINER_REJECTED`, to which the streams of a process publish in turns: a message in between would break a chain of IDs. */
export function createRejectedStream({ connection, js }: Pick<JetStream, 'connection' | 'js'>) {
  let previousTurn: Promise<unknown> = Promise.resolve();
  return {
    /** Runs work once all earlier work has ended. */
    takeTurn: <Result>(work: () => Promise<Result>): Promise<Result> => {
      const turn = previousTurn.then(work);
      previousTurn = turn.catch(() => undefined);
      return turn;
    },
    /**
     * Stores messages of a subject in order, at the cost of one round trip. The first message has to follow `after`, each other one its
     * predecessor. So the server stores all of them or only the first few, and the last acknowledgement covers all.
     *
     * @param after sequence of the newest message of the subject; 0 for a subject without messages.
     * @returns sequence of the last message.
     * @throws if any message is not known to be stored.
     */
    append: async (subject: string, after: number, bodies: readonly string[]) => {
      const chain = nuid.next();
      const last = bodies.length - 1;
      for (const [index, body] of bodies.slice(0, last).entries()) {
        const condition = headers();
        condition.set(PubHeaders.MsgIdHdr, `${chain}.${index}`);
        if (index === 0) condition.set(PubHeaders.ExpectedLastSubjectSequenceHdr, String(after));
        else condition.set(PubHeaders.ExpectedLastMsgIdHdr, `${chain}.${index - 1}`);
        connection.publish(subject, body, { headers: condition });
      }
      const { seq } = await js.publish(subject, bodies[last], {
        expect: last === 0 ? { lastSubjectSequence: after } : { lastMsgID: `${chain}.${last - 1}` },
        timeout: acknowledgementMs,
      });
      return seq;
    },
  };
}
