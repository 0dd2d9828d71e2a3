import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connectNats } from '../streams/connection.ts';
import { ensureStreams } from '../streams/ensureStreams.ts';
import { ConfigurationError } from './configuration.ts';
import { type LocalDeployment, localDeployment } from './localDeployment.ts';
import { createProgress } from './progress.ts';
import { type CommandContext, ownNats, startConfigured, untilStopped } from './runService.ts';
import type { Service } from './service.ts';
import { type GatewayParts, lastReading, publishPast, runGateway } from './simulatedGateway.ts';
import { newWheel, rebooted, type WheelState, wheelAfter } from './simulatedWheel.ts';
import { within } from './within.ts';

export interface LocalOptions {
  readonly pastDays: string;
  readonly pastInterval: string;
}

const intervalSecondsMax = 120;
const stopGraceMs = 300;

/** The command line's `local`: all parts of the service on this machine, and a simulated wheel. */
export function runLocal(options: LocalOptions): Promise<void> {
  return untilStopped(async (context) => {
    const pastDays = numberOf('--past-days', options.pastDays, 0, 365);
    const intervalMs = numberOf('--past-interval', options.pastInterval, 1, intervalSecondsMax) * 1000;
    const { configuration, logger, onStop } = context;
    const local = localDeployment(configuration.MINER_DATA_DIR, Date.now(), pastDays);
    const natsUrl = configuration.MINER_NATS_URL ?? (await ownNats(configuration, logger, onStop)).url;
    const roles = { ingest: true, serve: true };
    const service = await startConfigured({
      ...context,
      deployment: local.deployment,
      roles,
      natsUrl,
      rpcUrl: null,
    });
    printAddresses(service, natsUrl);
    await startSimulation(context, local, natsUrl, intervalMs);
  });
}

async function startSimulation(
  { configuration, logger, onStop }: CommandContext,
  { deployment, simulation }: LocalDeployment,
  natsUrl: string,
  intervalMs: number,
) {
  const stopping = new AbortController();
  const connection = await connectNats({
    url: natsUrl,
    name: 'simulated gateway',
    logger,
    signal: stopping.signal,
  });
  const jsm = await jetstreamManager(connection);
  await ensureStreams(jsm, { retentionDays: configuration.MINER_RETENTION_DAYS }, logger);
  const parts: GatewayParts = { js: jetstream(connection), logger, signal: stopping.signal };
  const last = await lastReading(jsm, deployment.installationId);
  const simulated = (async () => {
    const wheel = await withPast(parts, last === null ? null : wheelAfter(last, simulation.seed));
    if (!stopping.signal.aborted) await runGateway(parts, wheel, Date.now);
  })();
  onStop(async () => {
    stopping.abort();
    await within(stopGraceMs, simulated);
    await within(stopGraceMs, connection.close());
  });

  /** The wheel at the end of its past: published now, completed where a kill cut it off, or held already. */
  async function withPast(gateway: GatewayParts, held: WheelState | null): Promise<WheelState> {
    const { seed, pastFromMs, pastUntilMs } = simulation;
    const { installationId } = deployment;
    const wheel = held ?? newWheel({ installationId, seed, startMs: pastFromMs });
    const missing = Math.ceil((pastUntilMs - wheel.observedAtMs) / intervalMs) - 1;
    if (missing <= 0) return rebooted(wheel);
    const progress = createProgress({
      label: 'simulated past',
      unit: 'readings',
      total: missing,
      stream: process.stderr,
      nowMs: Date.now,
    });
    const rebootMs = pastFromMs + (pastUntilMs - pastFromMs) / 2;
    const ended = await publishPast(gateway, wheel, { untilMs: pastUntilMs, intervalMs, rebootMs }, progress);
    progress.stop();
    logger.info({ installationId }, 'the simulated past is published; the wheel goes on in real time');
    return ended;
  }
}

function printAddresses({ publicUrl, operatorUrl }: Service, natsUrl: string) {
  const lines = [
    'Mining Activity Read Service',
    `  status         ${publicUrl}/v1/status`,
    `  process        ${publicUrl}/v4/public/process`,
    `  telemetry      ${publicUrl}/v1/public/telemetry`,
    `  documentation  ${publicUrl}/docs`,
    `  metrics        ${operatorUrl}/metrics`,
    `  NATS           ${natsUrl}`,
    'Ctrl-C stops it; the next start goes on with the same data.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function numberOf(option: string, given: string, min: number, max: number): number {
  const value = Number(given);
  if (given.trim() !== '' && value >= min && value <= max) return value;
  throw new ConfigurationError([
    `${option} is ${JSON.stringify(given)}; expected a number from ${min} to ${max}`,
  ]);
}
