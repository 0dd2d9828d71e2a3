import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { fromCallback, fromPromise } from 'xstate';
import { natsMachine } from '../../machines/natsMachine.ts';
import { requireValue } from '../../machines/requireValue.ts';
import {
  type ConnectionSettings,
  closeNats,
  followConnection,
  logFailedAttempt,
  openConnection,
} from './connection.ts';

export interface JetStream {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
}

export type NatsLink = ReturnType<typeof createNatsLink>;

/** The connection of a process to NATS, which may not be available yet. */
export function createNatsLink(options: ConnectionSettings) {
  const { logger } = options;
  let connection: NatsConnection | null = null;
  let opened: JetStream | null = null;

  const requireConnection = () => requireValue(connection, 'the connection to NATS');

  return {
    /** For the supervisor; the connection exists while this machine runs. */
    logic: natsMachine.provide({
      actors: {
        connect: fromPromise(async ({ signal }) => {
          const connected = await openConnection(options);
          // Nobody waits for the connection any more.
          if (signal.aborted) await closeNats(connected);
          else connection = connected;
        }),
        link: fromCallback(({ sendBack }) => {
          void followConnection(requireConnection(), logger, (isConnected) =>
            sendBack({ type: isConnected ? 'connected' : 'disconnected' }),
          );
        }),
      },
      actions: {
        reportFailure: ({ context: { failures } }, { error }) => logFailedAttempt(logger, error, failures),
      },
    }),
    /** @throws while the server has no JetStream. */
    openJetStream: async () => {
      const connected = requireConnection();
      opened = { connection: connected, js: jetstream(connected), jsm: await jetstreamManager(connected) };
    },
    /** @throws before it is open. */
    jetStream: () => {
      if (opened === null) throw new Error('JetStream is not open');
      return opened;
    },
    close: async () => {
      if (connection !== null) await closeNats(connection);
    },
  };
}
