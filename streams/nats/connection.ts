import type { Logger } from 'pino';
import { retryUntilAvailable } from '../operators/retryUntilAvailable.ts';
import { openJetStream } from './jetStreamPort.ts';
import { type NatsAccess, readNatsAccess } from './natsAccess.ts';
import { createReconnectDelay } from './reconnectDelay.ts';
import type { StreamPort } from './streamPort.ts';

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
export async function openConnection(settings: ConnectionSettings): Promise<StreamPort> {
  const jetStream = await openJetStream({
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
  const { address, version } = jetStream.server();
  settings.logger.info({ server: address, natsVersion: version }, 'connected to NATS');
  if (isTooOld(version))
    settings.logger.warn(
      { natsVersion: version },
      'this NATS cannot sync before it acknowledges, so a power failure may take the last messages: upgrade to 2.10 or newer',
    );
  return jetStream;
}

/** Whether a nats-server is older than 2.10, which can sync before it acknowledges. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return !(major > 2 || (major === 2 && minor >= 10));
}

/** Logs and reports each loss and restoration of a connection until it is closed. */
function followConnection(
  { changes$ }: StreamPort,
  { logger, onChanged = () => undefined }: NatsSettings,
): void {
  changes$.subscribe((change) => {
    if (change.type === 'disconnect') {
      onChanged(false);
      logger.warn({ server: change.server }, 'NATS connection lost; reconnecting');
    }
    if (change.type === 'reconnect') {
      onChanged(true);
      logger.info({ server: change.server }, 'NATS connection restored');
    }
    if (change.type === 'error') logger.error({ err: change.error }, 'NATS server reported an error');
  });
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
export async function connectNats(settings: NatsSettings): Promise<StreamPort> {
  const { logger, signal } = settings;
  const jetStream = await retryUntilAvailable(() => openConnection(settings), {
    signal,
    onFirstFailure: (error) => logFailedAttempt(logger, error),
  });
  followConnection(jetStream, settings);
  return jetStream;
}
