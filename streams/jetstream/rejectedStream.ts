import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';

const acknowledgementMs = 5_000;

/** The end of `MINER_REJECTED`, as it was read once and as this process has extended it since. */
export interface RejectedStreamEnd {
  /** Largest message that an operator lets the stream take, in bytes. */
  readonly messageBytesMax: number;
  /**
   * Stores messages after the end, at the cost of one round trip. Each message expects its predecessor's sequence, so the server stores
   * all of them or only the first ones, and the acknowledgement of the last one stands for all.
   *
   * @throws if not all of them are known to be stored.
   */
  append(subject: string, bodies: readonly string[]): Promise<void>;
}

/** `MINER_REJECTED`, to which the streams of a process publish in turns. */
export interface RejectedStream {
  /** Runs work when no other work runs. After work that failed, the end is read again and is another object. */
  takeTurn<Result>(work: (end: RejectedStreamEnd) => Promise<Result>): Promise<Result>;
}

export interface RejectedStreamOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

export function createRejectedStream(options: RejectedStreamOptions): RejectedStream {
  let end: RejectedStreamEnd | null = null;
  let previousTurn: Promise<unknown> = Promise.resolve();
  return {
    takeTurn: (work) => {
      const turn = previousTurn.then(async () => {
        try {
          end ??= await readEnd(options);
          return await work(end);
        } catch (error) {
          end = null;
          throw error;
        }
      });
      previousTurn = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function readEnd({ connection, js, jsm }: RejectedStreamOptions): Promise<RejectedStreamEnd> {
  const { config, state } = await jsm.streams.info('MINER_REJECTED');
  let sequence = state.last_seq;
  return {
    messageBytesMax: config.max_msg_size > 0 ? config.max_msg_size : Number.POSITIVE_INFINITY,
    append: async (subject, bodies) => {
      const lastIndex = bodies.length - 1;
      for (const [index, body] of bodies.entries()) {
        const lastSequence = sequence + index;
        if (index === lastIndex)
          await js.publish(subject, body, { expect: { lastSequence }, timeout: acknowledgementMs });
        else connection.publish(subject, body, { headers: expectSequence(lastSequence) });
      }
      sequence += bodies.length;
    },
  };
}

function expectSequence(lastSequence: number) {
  const expectation = headers();
  expectation.set('Nats-Expected-Last-Sequence', String(lastSequence));
  return expectation;
}
