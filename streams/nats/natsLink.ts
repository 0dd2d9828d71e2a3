import { Observable } from 'rxjs';
import { requireValue } from '../../machines/requireValue.ts';
import type { NatsEvent } from '../../machines/serviceMachine.ts';
import { retryUntilAvailable } from '../operators/retryUntilAvailable.ts';
import { type ConnectionSettings, connectNats } from './connection.ts';
import type { StreamPort } from './streamPort.ts';

/** The connection of a process to NATS, which may not be available yet. */
export function createNatsLink(options: ConnectionSettings) {
  let connected: StreamPort | null = null;

  async function connect(signal: AbortSignal): Promise<StreamPort> {
    const opened = await connectNats({ ...options, signal });
    connected = opened;
    // Nobody waits for the connection any more.
    if (signal.aborted) await opened.close();
    await retryUntilAvailable(() => opened.account(), {
      signal,
      onFirstFailure: (error) =>
        options.logger.warn({ err: error }, 'JetStream is not available yet; retrying'),
    });
    return opened;
  }

  return {
    /**
     * Connects once it is subscribed, for as long as that takes, and reports each change, the first once JetStream answers. Unsubscribing ends the
     * attempts; it does not close an open connection.
     */
    changes$: new Observable<NatsEvent>((subscriber) => {
      const attempts = new AbortController();
      const report = (isConnected: boolean) => subscriber.next({ type: 'natsChanged', isConnected });
      connect(attempts.signal).then(
        (opened) => {
          report(true);
          opened.changes$.subscribe(({ type }) => {
            if (type !== 'error') report(type === 'reconnect');
          });
        },
        (error) => subscriber.error(error),
      );
      return () => attempts.abort();
    }),
    /** @throws before it is connected. */
    jetStream: () => requireValue(connected, 'the connection to NATS'),
    close: async () => {
      await connected?.close();
    },
  };
}
