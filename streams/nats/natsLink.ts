import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Observable } from 'rxjs';
import { requireValue } from '../../machines/requireValue.ts';
import type { NatsEvent } from '../../machines/serviceMachine.ts';
import { type ConnectionSettings, closeNats, connectNats } from './connection.ts';

export interface JetStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

export type NatsLink = ReturnType<typeof createNatsLink>;

/** The connection of a process to NATS, which may not be available yet. */
export function createNatsLink(options: ConnectionSettings) {
  let connection: NatsConnection | null = null;
  let opened: JetStream | null = null;
  return {
    /** Connects once it is subscribed, for as long as that takes, and reports each change. Unsubscribing ends the attempts, not the connection. */
    changes$: new Observable<NatsEvent>((subscriber) => {
      const attempts = new AbortController();
      const report = (isConnected: boolean) => subscriber.next({ type: 'natsChanged', isConnected });
      connectNats({ ...options, signal: attempts.signal, onChanged: report }).then(
        async (connected) => {
          // Nobody waits for the connection any more.
          if (attempts.signal.aborted) return closeNats(connected);
          connection = connected;
          report(true);
        },
        (error) => subscriber.error(error),
      );
      return () => attempts.abort();
    }),
    /** @throws while the server has no JetStream. */
    openJetStream: async () => {
      const connected = requireValue(connection, 'the connection to NATS');
      opened = { connection: connected, js: jetstream(connected), jsm: await jetstreamManager(connected) };
    },
    /** @throws before it is open. */
    jetStream: () => requireValue(opened, 'JetStream'),
    close: async () => {
      if (connection !== null) await closeNats(connection);
    },
  };
}
