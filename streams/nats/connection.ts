import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { retryUntilAvailable } from '../operators/retryUntilAvailable.ts';
import { type NatsAccess, readNatsAccess } from './natsAccess.ts';
import { createReconnectDelay } from './reconnectDelay.ts';

export interface ConnectionSettings extends NatsAccess {
  /** Name of the connection, as the server's monitoring shows it. */
  readonly name: string;
  readonly logger: Logger;
}

/**
 * A lost connection is restored as long as that takes. The client's defaults give up after ten attempts, or at the second refusal, and a server refuses for a
 * moment while its users are being changed.
 */
export const reconnectForever = { maxReconnectAttempts: -1, ignoreAuthErrorAbort: true } as const;

/** Makes one attempt to connect. */
export async function openConnection(settings: ConnectionSettings): Promise<NatsConnection> {
  const connection = await connect({
    ...readNatsAccess(settings),
    name: settings.name,
    ...reconnectForever,
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
  });
  const { version = 'unknown' } = connection.info ?? {};
  settings.logger.info({ server: connection.getServer(), natsVersion: version }, 'connected to NATS');
  if (isTooOld(version))
    settings.logger.warn(
      { natsVersion: version },
      'this NATS cannot sync before it acknowledges, so a power failure may take the last messages: upgrade to 2.10 or newer',
    );
  return connection;
}

/** Whether a nats-server is older than 2.10, which can sync before it acknowledges. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return !(major > 2 || (major === 2 && minor >= 10));
}

/** Logs and reports each loss and restoration of a connection until it is closed. */
async function followConnection(
  connection: NatsConnection,
  { logger, onChanged = () => undefined }: NatsSettings,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      onChanged(false);
      logger.warn({ server: status.server }, 'NATS connection lost; reconnecting');
    }
    if (status.type === 'reconnect') {
      onChanged(true);
      logger.info({ server: status.server }, 'NATS connection restored');
    }
    if (status.type === 'error') logger.error({ err: status.error }, 'NATS server reported an error');
  }
}

export function logFailedAttempt(logger: Logger, error: unknown): void {
  logger.warn({ err: error }, 'NATS is not available yet; retrying');
}

interface NatsSettings extends ConnectionSettings {
  /** Aborting ends the attempts to connect for the first time. */
  readonly signal: AbortSignal;
  /** Called at each loss and restoration of the connection. */
  readonly onChanged?: (isConnected: boolean) => void;
}

/**
 * Connects to NATS, and waits for a server that is not available yet.
 *
 * @throws the signal's reason when it is aborted before the first connection.
 */
export async function connectNats(settings: NatsSettings): Promise<NatsConnection> {
  const { logger, signal } = settings;
  const connection = await retryUntilAvailable(() => openConnection(settings), {
    signal,
    onFirstFailure: (error) => logFailedAttempt(logger, error),
  });
  void followConnection(connection, settings);
  return connection;
}

/**
 * Closes a connection permanently. When the client closes, it removes the listeners of its socket. A write to a socket that the server
 * has ended could then fail without a listener, which would end the process. One turn of the event loop later, such errors are handled.
 */
export async function closeNats(connection: NatsConnection): Promise<void> {
  await nextTurn();
  await connection.close();
}
