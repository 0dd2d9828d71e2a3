import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { fromCallback } from 'xstate';
import { natsMachine } from '../../machines/natsMachine.ts';
import { closeNats, connectNats } from './connection.ts';
import type { NatsAccess } from './natsAccess.ts';

export interface NatsLinkOptions extends NatsAccess {
  /** Name of the connection, as the server's monitoring shows it. */
  readonly name: string;
  readonly logger: Logger;
}

export interface JetStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

/** The connection of a process to NATS, which may not be available yet. */
export interface NatsLink {
  /** For the supervisor; the connection exists while this runs. */
  readonly logic: typeof natsMachine;
  /** @throws while the server has no JetStream. */
  openJetStream(): Promise<void>;
  /** @throws before it is open. */
  jetStream(): JetStream;
  close(): Promise<void>;
}

export function createNatsLink(options: NatsLinkOptions): NatsLink {
  let connection: NatsConnection | null = null;
  let opened: JetStream | null = null;

  const link = fromCallback(({ sendBack }) => {
    const ending = new AbortController();
    const send = (isConnected: boolean) => sendBack({ type: isConnected ? 'connected' : 'disconnected' });
    connectNats({
      ...options,
      signal: ending.signal,
      // The first connection is reported below, once it can be used.
      onConnected: (isConnected) => connection !== null && send(isConnected),
    }).then(
      async (connected) => {
        connection = connected;
        if (ending.signal.aborted) await closeNats(connected);
        else send(true);
      },
      () => undefined, // Only an abort ends the attempts, and then nothing is waiting for it.
    );
    return () => ending.abort(new Error('the connection to NATS is no longer needed'));
  });

  return {
    logic: natsMachine.provide({ actors: { link } }),
    openJetStream: async () => {
      if (connection === null) throw new Error('NATS is not connected');
      opened = { connection, js: jetstream(connection), jsm: await jetstreamManager(connection) };
    },
    jetStream: () => {
      if (opened === null) throw new Error('JetStream is not open');
      return opened;
    },
    close: async () => {
      if (connection !== null) await closeNats(connection);
    },
  };
}
