import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { retryUntilAvailable } from '../operators/retryUntilAvailable.ts';

export interface NatsSettings {
  /** `nats://host:port`, several separated by commas. */
  readonly url: string;
  /** Name of the connection, as the server's monitoring shows it. */
  readonly name: string;
  readonly logger: Logger;
  /** Aborting ends the attempts to connect for the first time. */
  readonly signal: AbortSignal;
  /** Called whenever the connection is established or lost. */
  readonly onConnected?: (isConnected: boolean) => void;
}

/**
 * Servers, and who connects to them: the client takes a user and a password as options, and ignores those of an address. In an address they
 * are percent-encoded.
 */
export function readNatsUrl(url: string): { servers: string[]; user?: string; pass?: string } {
  const addresses = url.split(',').map((address) => new URL(address));
  const servers = addresses.map(({ protocol, host }) => `${protocol}//${host}`);
  const named = addresses.find(({ username }) => username !== '');
  if (named === undefined) return { servers };
  return { servers, user: decodeURIComponent(named.username), pass: decodeURIComponent(named.password) };
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
        ...readNatsUrl(settings.url),
        name: settings.name,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 500,
        reconnectJitter: 250,
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
