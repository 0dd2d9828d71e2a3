import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

const startMs = 20_000;
const pollMs = 20;

/** Where Debian keeps servers too, whatever the user's own path is. */
export const serverPath = `${process.env.PATH}:/usr/sbin`;

/** Ends a process that was just started, and waits until it is gone. */
export function createStopper(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): () => Promise<void> {
  const exited = once(child, 'exit');
  return async () => {
    child.kill(signal);
    await exited;
  };
}

/**
 * The first answer of a server; an attempt that is rejected is repeated.
 *
 * @throws Error when it does not answer within twenty seconds; it is stopped then.
 */
export async function awaitFirstAnswer<Answer>(
  name: string,
  ask: () => Promise<Answer>,
  stop: () => Promise<void>,
): Promise<Answer> {
  for (const deadlineMs = performance.now() + startMs; performance.now() < deadlineMs; await wait(pollMs)) {
    try {
      return await ask();
    } catch {
      // Not there yet.
    }
  }
  await stop();
  throw new Error(`${name} does not answer`);
}
