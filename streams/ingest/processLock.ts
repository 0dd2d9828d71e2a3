import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { NatsConnection } from '@nats-io/transport-node';

const answerMs = 1_000;

/** Another process holds the lock. */
export class LockHeldError extends Error {
  override readonly name = 'LockHeldError';
}

/**
 * Acquires a lock, which this process holds while it is connected to NATS. The holder answers requests, and a killed process does not. If two
 * processes try at the same time, both may be refused, but never both succeed.
 *
 * @param subject outside the streams; one per lock.
 * @param what what is locked, for the error message, such as `a replay`.
 * @returns a function that releases the lock.
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
    // Several may answer; this process's own subscription receives the request too, and ignores it.
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
