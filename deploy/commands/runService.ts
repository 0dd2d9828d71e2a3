import { join } from 'node:path';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { OperatorError } from '../../actors/operatorError.ts';
import { detectImplementation, isOldEngine, uwsPackage } from '../../http/server/engine/uws.ts';
import type { NatsAccess } from '../../streams/nats/natsAccess.ts';
import {
  type Configuration,
  ConfigurationError,
  readConfiguration,
  unknownVariables,
} from '../configuration/configuration.ts';
import { type Deployment, readDeploymentFile } from '../configuration/deploymentFile.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { type LocalNats, startLocalNats } from '../local/localNats.ts';
import { requireFreePorts } from '../process/freePorts.ts';
import { checkHttpEngine } from '../process/httpEngine.ts';
import { createProcessRegistry } from '../process/processMetrics.ts';
import { createLogger } from '../process/serviceLogger.ts';
import { systemClock } from '../process/systemClock.ts';
import { type Service, startService } from '../service/service.ts';
import { buildSettings, type ServiceSettings } from '../service/serviceSettings.ts';

/**
 * If not everything has stopped within this time, the process ends regardless, just before an orchestrator would kill it (after ten seconds by
 * default). Normally a stop takes a moment.
 */
export const stopMs = 9_500;
/** A part that takes longer to stop is named in the log. */
const slowStopMs = 2_000;

/** The command line's `run`, `ingest` and `serve`. Runs until SIGTERM or SIGINT. */
export function runService(roles: ServiceSettings['roles']): Promise<void> {
  return runUntilStopped(async ({ configuration, logger, onStop, fail }) => {
    const path = configuration.MINER_DEPLOYMENT;
    if (path === null)
      throw new ConfigurationError(['MINER_DEPLOYMENT is not set; expected the path of a JSON file']);
    if (!roles.ingest && configuration.MINER_CLICKHOUSE_URL === null) {
      throw new ConfigurationError([
        'MINER_CLICKHOUSE_URL is not set; `serve` reads what another process writes, so it expects a ClickHouse server',
      ]);
    }
    const deployment = readDeploymentFile(path);
    await requireFreePorts(configuration, roles);
    const nats = locateNats(configuration) ?? {
      url: (await startOwnNats(configuration, logger, onStop)).url,
    };
    const rpcUrl = configuration.MINER_RPC_URL;
    if (roles.ingest && rpcUrl !== null && deployment.onChain === null)
      logger.warn(
        { deployment: path },
        'MINER_RPC_URL is set, but the deployment file names no contracts: no chain is read',
      );
    await startConfigured({ configuration, deployment, roles, nats, rpcUrl, logger, onStop, fail });
  });
}

/** Everything a command uses until it is asked to stop. */
export interface CommandContext {
  readonly configuration: Configuration;
  readonly logger: Logger;
  /** Registers a part to stop, with its name in the log. The last registered stops first. */
  readonly onStop: (what: string, stop: () => Promise<void>) => void;
  /** The command is complete: stops everything, and the process ends. */
  readonly finish: () => Promise<void>;
  /** Call if the command cannot continue: stops everything, and the process ends with status 1. While it already stops, the error is only logged. */
  readonly fail: (error: unknown) => void;
}

/** Runs a command. A signal or failure stops everything it started, in reverse order. */
export async function runUntilStopped(start: (context: CommandContext) => Promise<void>): Promise<void> {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(process.env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitStatus;
    return;
  }
  const logger = createLogger(configuration.MINER_LOG_LEVEL);
  const drainMs = configuration.MINER_DRAIN_SECONDS * 1000;
  const unknown = unknownVariables(process.env);
  if (unknown.length > 0)
    logger.warn({ unknown }, 'unknown variables; --help lists the settings of this service');
  const stops: { readonly what: string; readonly stop: () => Promise<void> }[] = [];
  let isStopping = false;
  let stoppingNow: string | null = null;
  let stopped: Promise<void> | null = null;
  /** Stops each part once, the last started first, also if a signal comes while the command ends by itself. */
  const stopAll = () => {
    stopped ??= stopParts();
    return stopped;
  };
  const stopParts = async () => {
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) {
      const { what, stop } = last;
      stoppingNow = what;
      const startedMs = performance.now();
      await stop();
      const tookMs = Math.round(performance.now() - startedMs);
      if (tookMs > slowStopMs + drainMs) logger.warn({ what, tookMs }, 'took long to stop');
    }
    stoppingNow = null;
  };
  const onTimeout = () =>
    logger.error(
      { waitedFor: stoppingNow, stopMs: stopMs + drainMs },
      'not everything stopped in time; the process ends without it',
    );
  const onSecondSignal = (signal: string) =>
    logger.error({ signal, waitedFor: stoppingNow }, 'asked to stop again; the process ends at once');
  const onSecondError = (err: unknown) =>
    logger.fatal({ err }, 'failed while stopping; the process ends at once');
  const grace = closeWithGrace(
    { delay: stopMs + drainMs, logger: false, onTimeout, onSecondSignal, onSecondError },
    async ({ signal, err }) => {
      isStopping = true;
      if (err === undefined) logger.info({ signal }, 'stopping');
      else if (err instanceof OperatorError) process.stderr.write(`${err.message}\n`);
      else logger.fatal({ err }, 'the service cannot continue');
      await stopAll();
      logger.info('stopped');
      if (err instanceof OperatorError) process.exit(err.exitStatus);
    },
  );
  const finish = async () => {
    if (isStopping) return;
    await stopAll();
    grace.uninstall();
  };
  const fail = (err: unknown) => {
    if (isStopping) return logger.warn({ err }, 'failed while stopping');
    throw err; // Outside of any handler, so it ends the process like any other failure, with everything stopped in order.
  };
  try {
    await start({ configuration, logger, onStop: (what, stop) => stops.push({ what, stop }), finish, fail });
  } catch (error) {
    if (isStopping) return;
    if (error instanceof OperatorError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'the service cannot start');
    await stopAll();
    grace.uninstall();
    process.exit(error instanceof OperatorError ? error.exitStatus : 1);
  }
}

/** Starts a local nats-server for a process without a configured NATS. */
export async function startOwnNats(
  configuration: Configuration,
  logger: Logger,
  onStop: CommandContext['onStop'],
): Promise<LocalNats> {
  const nats = await startLocalNats({ dir: join(configuration.MINER_DATA_DIR, 'nats'), logger });
  onStop('nats-server', nats.stop);
  return nats;
}

interface ConfiguredService extends Omit<CommandContext, 'finish'> {
  readonly deployment: Deployment;
  readonly roles: ServiceSettings['roles'];
  readonly nats: NatsAccess;
  /** A node to index from, if one is set. */
  readonly rpcUrl: string | null;
}

/** Starts the configured service. A later failure ends the process. */
export async function startConfigured(configured: ConfiguredService): Promise<Service> {
  const { configuration, deployment, roles, nats, rpcUrl, logger, onStop, fail } = configured;
  const engine = { implementation: detectImplementation(), isOld: isOldEngine };
  if (roles.serve) checkHttpEngine(engine, logger);
  const service = await startService({
    settings: buildSettings(configuration, { roles, nats, deployment, rpcUrl }),
    clock: systemClock,
    logger,
    registry: createProcessRegistry(),
    onFault: fail,
  });
  onStop('the service', () => service.stop(configuration.MINER_DRAIN_SECONDS * 1000));
  const { publicUrl, operatorUrl } = service;
  logger.info(
    { publicUrl, operatorUrl, roles, uWebSockets: detectImplementation(), uwsPackage },
    'listening',
  );
  return service;
}
