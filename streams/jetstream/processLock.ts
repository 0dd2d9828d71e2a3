import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';

const answerMs = 1_000;

/** Another process holds what only one may. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
}

/**
 * Claims a name for this process on a NATS server, for as long as it is connected: its holder answers whoever asks, and
 * a killed one does not. Two that claim it at the same time may both be refused, never both be let in.
 *
 * @param subject outside the streams; one a thing to hold.
 * @param what what is held, for the message, such as `a replay`.
 * @returns gives it up.
 * @throws LockHeldError with the other's host and process.
 */
export async function acquireLock(
  connection: NatsConnection,
  subject: string,
  what: string,
): Promise<() => void> {
  const id = randomUUID();
  const self = JSON.stringify({ id, host: hostname(), pid: process.pid });
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      if (error === null && message.string() !== id) message.respond(self);
    },
  });
  try {
    // Several may answer; our own subscription gets the question too, and does not.
    const answers = await connection.requestMany(subject, id, { maxWait: answerMs });
    for await (const answer of answers) {
      const { host, pid } = answer.json<{ host: string; pid: number }>();
      throw new LockHeldError(`${what} is running already: process ${pid} on ${host}`);
    }
  } catch (error) {
    subscription.unsubscribe();
    throw error;
  }
  return () => subscription.unsubscribe();
}
