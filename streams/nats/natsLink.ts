import { Observable } from 'rxjs';
import { requireValue } from '../../machines/requireValue.ts';
import type { NatsEvent } from '../../machines/serviceMachine.ts';
import { type ConnectionSettings, connectNats } from './connection.ts';
import type { StreamPort } from './streamPort.ts';

export type NatsLink = ReturnType<typeof createNatsLink>;

/** The connection of a process to NATS, which may not be available yet. */
export function createNatsLink(options: ConnectionSettings) {
  let connected: StreamPort | null = null;
  /** @throws before it is connected. */
  const jetStream = () => requireValue(connected, 'the connection to NATS');
  return {
    /** Connects once it is subscribed, for as long as that takes, and reports each change. Unsubscribing ends the attempts, not the connection. */
    changes$: new Observable<NatsEvent>((subscriber) => {
      const attempts = new AbortController();
      const report = (isConnected: boolean) => subscriber.next({ type: 'natsChanged', isConnected });
      connectNats({ ...options, signal: attempts.signal }).then(
        async (opened) => {
          // Nobody waits for the connection any more.
          if (attempts.signal.aborted) return opened.close();
          connected = opened;
          report(true);
          opened.changes$.subscribe(({ type }) => {
            if (type !== 'error') report(type === 'reconnect');
          });
        },
        (error) => subscriber.error(error),
      );
      return () => attempts.abort();
    }),
    /** @throws while the server has no JetStream. */
    openJetStream: async () => {
      await jetStream().account();
    },
    jetStream,
    close: async () => {
      await connected?.close();
    },
  };
}
