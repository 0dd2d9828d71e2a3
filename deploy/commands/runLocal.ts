import { join } from 'node:path';
import { formatAuthority } from '../../http/server/engine/listener.ts';
import { pollUntil } from '../../storage/reading/awaitRows.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import type { Configuration } from '../configuration/configuration.ts';
import type { Deployment } from '../configuration/deploymentFile.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { startAnvil } from '../local/localAnvil.ts';
import { createLocalChainClient, type LocalAccounts, readLocalAccounts } from '../local/localChainClient.ts';
import { loadDeployment, loadSimulation, type Simulation } from '../local/localDeployment.ts';
import { createSimulatedEconomy, liveBlockSeconds } from '../local/simulatedEconomy.ts';
import { publishPast, runGateway, type SimulatedGatewayOptions } from '../local/simulatedGateway.ts';
import { awaitFolded } from '../local/simulatedReporter.ts';
import { createWheel, rebootWheel, resumeWheel, type WheelState } from '../local/simulatedWheel.ts';
import { requireFreePorts } from '../process/freePorts.ts';
import { createProgress } from '../process/progress.ts';
import { within } from '../process/within.ts';
import type { Service } from '../service/service.ts';
import { type CommandContext, runUntilStopped, startConfigured, startOwnNats } from './runService.ts';

export interface LocalOptions {
  readonly pastDays: number;
  /** Seconds. */
  readonly pastInterval: number;
}

const readyPollMs = 20;
const stopGraceMs = 300;

/** The command line's `local`: all parts of the service on this machine, with a simulated wheel and economy. */
export function runLocal({ pastDays, pastInterval }: LocalOptions): Promise<void> {
  return runUntilStopped(async (context) => {
    const { logger, onStop } = context;
    const configuration = addressPages(context.configuration);
    const dataDir = configuration.MINER_DATA_DIR;
    await requireFreePorts(configuration, { serve: true });
    const simulation = loadSimulation(dataDir, Date.now(), pastDays);
    const access = locateNats(configuration);
    const ownNats = access === null ? await startOwnNats(configuration, logger, onStop) : null;
    const nats = access ?? { url: ownNats?.url ?? '' };
    const anvil = await startAnvil({
      // The contracts are deployed before round 1 begins.
      genesisTimestamp: simulation.genesisTimestamp - 3_600,
      dir: join(dataDir, 'anvil'),
      logger,
    });
    onStop('anvil', anvil.stop);
    void anvil.ended.then(() => logger.error('anvil ended by itself; the chain stops until the next start'));
    const accounts = await readLocalAccounts(createLocalChainClient(anvil.url));
    const deployment = await loadDeployment({ dataDir, simulation, url: anvil.url, accounts });
    const roles = { ingest: true, serve: true };
    const service = await startConfigured({
      ...context,
      configuration,
      deployment,
      roles,
      nats,
      rpcUrl: anvil.url,
    });
    const natsAddress =
      ownNats === null
        ? readNatsAccess(nats).servers.join(', ')
        : `${ownNats.address}, with its token in ${ownNats.urlFile}`;
    printAddresses(service, natsAddress, anvil.url);
    startSimulation(context, {
      simulation,
      deployment,
      accounts,
      service,
      intervalMs: pastInterval * 1000,
      chainUrl: anvil.url,
    });
  });
}

/**
 * Unless an address is configured, the pages name the address of the server. A port that the system chooses is not known yet, and nobody
 * can visit a host that stands for all addresses.
 */
function addressPages(configuration: Configuration): Configuration {
  const { MINER_PUBLIC_URL, MINER_HOST: host, MINER_HTTP_PORT: port } = configuration;
  if (MINER_PUBLIC_URL !== null || port === 0 || ['0.0.0.0', '::'].includes(host)) return configuration;
  return { ...configuration, MINER_PUBLIC_URL: `http://${formatAuthority(host, port)}` };
}

interface SimulationOptions {
  readonly simulation: Simulation;
  readonly deployment: Deployment;
  readonly accounts: LocalAccounts;
  readonly service: Service;
  readonly chainUrl: string;
  /** Interval of readings in the past. */
  readonly intervalMs: number;
}

/** Starts the simulation, which publishes by the connection of the service and reads its folded state. */
function startSimulation({ logger, onStop }: CommandContext, options: SimulationOptions) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = simulate({ ...options, logger, signal }).catch((error: unknown) => {
    if (!signal.aborted)
      logger.error({ err: error }, 'the simulation ended; the service continues without it');
  });
  onStop('the simulation', async () => {
    stopping.abort();
    await within(stopGraceMs, running);
  });
}

type Running = SimulationOptions & Pick<SimulatedGatewayOptions, 'logger' | 'signal'>;

/** Runs the wheel first, then the economy, whose reporter settles the wheel's readings. */
async function simulate(options: Running): Promise<void> {
  const { simulation, service, logger, signal } = options;
  const isReady = await pollUntil(() => service.readiness().isReady, { everyMs: readyPollMs, signal });
  if (!isReady) signal.throwIfAborted();
  const gateway: SimulatedGatewayOptions = { jetStream: service.jetStream(), logger, signal };
  const last = service.actors.MINER_COUNTER.installation(simulation.installationId)?.acceptance.latest;
  const resumed = last === undefined ? null : resumeWheel(last, simulation.seed);
  const wheel = await completePast(gateway, options, resumed);
  await Promise.all([runGateway(gateway, wheel, Date.now), runEconomy(options)]);
}

/** Publishes the wheel's past, or the rest of it after a kill. Returns the wheel at its end. */
async function completePast(
  gateway: SimulatedGatewayOptions,
  { simulation, intervalMs }: SimulationOptions,
  resumed: WheelState | null,
): Promise<WheelState> {
  const { installationId, seed, pastFromMs, pastUntilMs } = simulation;
  const wheel = resumed ?? createWheel({ installationId, seed, startMs: pastFromMs });
  if (pastUntilMs - wheel.observedAtMs <= intervalMs) return rebootWheel(wheel);
  const rebootMs = pastFromMs + (pastUntilMs - pastFromMs) / 2;
  const ended = await publishPast(gateway, wheel, { untilMs: pastUntilMs, intervalMs, rebootMs });
  gateway.logger.info(
    { installationId },
    'the simulated past is published; the wheel continues in real time',
  );
  return ended;
}

/** Runs owners, reporter and keeper through the past at full speed, then in real time. */
async function runEconomy(options: Running) {
  const { simulation, deployment, service, chainUrl, logger, signal } = options;
  const { installationId, genesisTimestamp, seed } = simulation;
  if (deployment.onChain === null) throw new Error('the local deployment has no contracts');
  const { contracts } = deployment.onChain;
  const { lastSequence } = await service.jetStream().info('MINER_COUNTER');
  await awaitFolded(options, 'MINER_COUNTER', lastSequence);
  const economy = createSimulatedEconomy({
    ...options,
    client: createLocalChainClient(chainUrl),
    contracts,
    seed,
    genesisSeconds: genesisTimestamp,
    installationId,
  });
  const from = await economy.readTipSeconds();
  const until = Math.floor(Date.now() / 1000) - liveBlockSeconds;
  const total = Math.max(0, until - from);
  const progress = createProgress({ label: 'simulated chain', unit: 'seconds', total });
  await economy.runPast(until, (seconds) => progress.update(seconds - from));
  progress.stop();
  if (!signal.aborted) logger.info('the simulated chain has reached the present; it continues in real time');
  await economy.runLive(() => Math.floor(Date.now() / 1000));
}

function printAddresses({ publicUrl, operatorUrl }: Service, nats: string, chainUrl: string) {
  const lines = [
    `Mining Activity Read Service  ${publicUrl}/`,
    `  status         ${publicUrl}/v1/status`,
    `  process        ${publicUrl}/v4/public/process`,
    `  telemetry      ${publicUrl}/v1/public/telemetry`,
    `  settlements    ${publicUrl}/v1/settlements?range=7d`,
    `  issuance       ${publicUrl}/v1/mining/state`,
    `  documentation  ${publicUrl}/docs`,
    `  metrics        ${operatorUrl}/metrics`,
    `  NATS           ${nats}`,
    `  chain          ${chainUrl}`,
    'Ctrl-C stops it; the next start continues with the same data.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}
