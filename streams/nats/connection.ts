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

/** Whether a nats-server is older than 2.10, which can sync before it acknowledges. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return !(major > 2 || (major === 2 && minor >= 10));
}

export function logFailedAttempt(logger: Logger, error: unknown): void {
  logger.warn({ err: error }, 'NATS is not available yet; retrying');
}

/**
 * Connects to NATS, and waits for a server that is not available yet. Logs each loss and restoration of the connection until it is closed.
 *
 * @throws the signal's reason when it is aborted before the first connection.
 */
export async function connectNats(
  settings: ConnectionSettings & { readonly signal: AbortSignal },
): Promise<StreamPort> {
  const { logger, signal } = settings;
  const jetStream = await retryUntilAvailable(() => openJetStream(chooseOptions(settings)), {
    signal,
    onFirstFailure: (error) => logFailedAttempt(logger, error),
  });
  const { address, version } = jetStream.server();
  logger.info({ server: address, natsVersion: version }, 'connected to NATS');
  if (isTooOld(version))
    logger.warn(
      { natsVersion: version },
      'this NATS cannot sync before it acknowledges, so a power failure may take the last messages: upgrade to 2.10 or newer',
    );
  jetStream.changes$.subscribe((change) => {
    if (change.type === 'error') return logger.error({ err: change.error }, 'NATS server reported an error');
    const { server } = change;
    if (change.type === 'disconnect') logger.warn({ server }, 'NATS connection lost; reconnecting');
    else logger.info({ server }, 'NATS connection restored');
  });
  return jetStream;
}

function chooseOptions(settings: ConnectionSettings): Parameters<typeof openJetStream>[0] {
  return {
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
  };
}
