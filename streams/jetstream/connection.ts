import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { retryUntilAvailable } from '../operators/retryUntilAvailable.ts';
import { type NatsAccess, readNatsAccess } from './natsAccess.ts';
import { createReconnectDelay } from './reconnectDelay.ts';

export interface NatsSettings extends NatsAccess {
  /** Name of the connection, as the server's monitoring shows it. */
  readonly name: string;
  readonly logger: Logger;
  /** Aborting ends the attempts to connect for the first time. */
  readonly signal: AbortSignal;
  /** Called whenever the connection is established or lost. */
  readonly onConnected?: (isConnected: boolean) => void;
}

/**
 * Connects to NATS, waiting for a server that is not available yet, and stays connected: the client's default of ten
 * reconnects would close it permanently.
 *
 * @throws the signal's reason when it is aborted before the first connection.
 */
export async function connectNats(settings: NatsSettings): Promise<NatsConnection> {
  const { logger, signal, onConnected = () => undefined } = settings;
  const connection = await retryUntilAvailable(
    () =>
      connect({
        ...readNatsAccess(settings),
        name: settings.name,
        maxReconnectAttempts: -1,
        // A server whose users are being changed refuses for a moment; by default the second refusal would be the end.
        ignoreAuthErrorAbort: true,
        reconnectDelayHandler: createReconnectDelay({
          waitMs: 500,
          jitterMs: 250,
          // The clock that the client itself reads.
          wallMs: () => Date.now(),
          random: Math.random,
        }),
        pingInterval: 5_000,
        maxPingOut: 2,
        timeout: 5_000,
      }),
    {
      signal,
      onFailure: (error, failures) => {
        if (failures === 1) logger.warn({ err: error }, 'NATS is not available yet; retrying');
      },
    },
  );
  logger.info({ server: connection.getServer() }, 'connected to NATS');
  onConnected(true);
  void followConnectionStates(connection, logger, onConnected);
  return connection;
}

async function followConnectionStates(
  connection: NatsConnection,
  logger: Logger,
  onConnected: (isConnected: boolean) => void,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      onConnected(false);
      logger.warn({ server: status.server }, 'NATS connection lost; reconnecting');
    }
    if (status.type === 'reconnect') {
      onConnected(true);
      logger.info({ server: status.server }, 'NATS connection restored');
    }
    if (status.type === 'error') logger.error({ err: status.error }, 'NATS server reported an error');
  }
}

/**
 * Closes a connection permanently. The client removes the listeners of its socket when it closes; if a command was
 * written in the same turn of the event loop to a socket that the server has ended, its error would then have no
 * listener, which ends the process. One turn later every such error has been handled.
 */
export async function closeNats(connection: NatsConnection): Promise<void> {
  await nextTurn();
  await connection.close();
}
