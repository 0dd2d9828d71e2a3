import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { fromCallback } from 'xstate';
import { natsMachine } from '../../machines/natsMachine.ts';
import { closeNats, connectNats } from './connection.ts';

export interface NatsLinkOptions {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
  /** Name of the connection, as the server's monitoring shows it. */
  readonly name: string;
  readonly logger: Logger;
}

export interface JetStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

/** The connection of a process to NATS, which need not be there yet. */
export interface NatsLink {
  /** For whoever supervises it; it connects while this runs. */
  readonly logic: typeof natsMachine;
  /** @throws while the server has no JetStream. */
  openJetStream(): Promise<void>;
  /** What was opened. */
  jetStream(): JetStream;
  close(): Promise<void>;
}

export function createNatsLink(options: NatsLinkOptions): NatsLink {
  let connection: NatsConnection | null = null;
  let opened: JetStream | null = null;

  const link = fromCallback(({ sendBack }) => {
    const ending = new AbortController();
    const tell = (isConnected: boolean) => sendBack({ type: isConnected ? 'connected' : 'disconnected' });
    connectNats({
      ...options,
      signal: ending.signal,
      // Of the first time is told below, once there is something to work with.
      onConnected: (isConnected) => connection !== null && tell(isConnected),
    }).then(
      async (connected) => {
        connection = connected;
        if (ending.signal.aborted) await closeNats(connected);
        else tell(true);
      },
      () => undefined, // Nobody wants it any more: nothing else ends the attempts.
    );
    return () => ending.abort(new Error('the connection to NATS is not wanted any more'));
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
