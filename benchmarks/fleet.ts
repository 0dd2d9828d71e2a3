import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { startLocalNats } from '../deploy/local/localNats.ts';
import { pollUntil } from '../storage/reading/awaitRows.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { pinThisProcess } from './pinToCore.ts';
import { type PartialRun, publishResults } from './results.ts';
import { type ServiceProcess, startServiceProcess } from './serviceProcess.ts';
import { startLoad } from './startLoad.ts';
import { inWorkspace } from './workspace.ts';
import { loadCore, serverCore } from './wrk.ts';

const installations = 'miner_installations{stream="MINER_COUNTER"}';
const lag = 'miner_stream_lag_messages{stream="MINER_COUNTER"}';
const position = 'miner_stream_position{stream="MINER_COUNTER"}';
const sampleMs = 500;
/** Required share of the readings. */
const foldedShareMin = 0.95;

interface FleetOptions extends Pick<PartialRun, 'profile'> {
  readonly installations: number;
  /** Seconds from a reading of a wheel to its next one. */
  readonly every: number;
  /** Duration of each measurement. */
  readonly seconds: number;
  readonly rounds: number;
}

/**
 * Measures what many wheels cost one process that ingests and serves, once each of them has its place.
 *
 * @throws Error if the load or the service does not keep up.
 */
export async function measureFleet({ rounds, profile, ...fleet }: FleetOptions): Promise<void> {
  // Servers and load inherit the core, and the service has its own.
  const unpin = pinThisProcess(loadCore);
  try {
    const series = await inWorkspace(async ({ dir, onEnd }) => {
      const nats = await startLocalNats({ dir: join(dir, 'nats'), logger: pino({ level: 'error' }) });
      onEnd(nats.stop);
      const environment = {
        MINER_NATS_URL: nats.url,
        // As RUNNING says: all of them get their places on the first day.
        MINER_INSTALLATIONS_MAX: String(2 * fleet.installations),
      };
      const service = await startServiceProcess({ dir, environment, core: serverCore, profile });
      onEnd(service.stop);
      await service.readyAfterMs();
      const clients = { pollers: 100, listeners: 100, natsUrl: nats.url, publicUrl: service.publicUrl };
      const task = { installations: fleet.installations, everySeconds: fleet.every, ...clients };
      const load = await startLoad(task);
      onEnd(load.stop);
      await pollUntil(async () => ((await service.metric(installations)) ?? 0) >= fleet.installations, {
        everyMs: sampleMs,
      });
      const name = 'the service, with its embedded ClickHouse';
      return measureInterleaved([{ name, measure: () => measureOnce(service, fleet) }], rounds);
    });
    const [wheels, perSecond] = [fleet.installations, fleet.installations / fleet.every].map((count) =>
      Math.round(count).toLocaleString('en-US'),
    );
    publishResults(
      {
        command: 'fleet',
        about: `${wheels} wheels, with twice as many places (MINER_INSTALLATIONS_MAX), publish a reading every ${fleet.every} seconds, ${perSecond} a second in all; 100 clients send a request a second, and 100 read the event stream. The service has one core. Each measurement takes ${fleet.seconds} seconds, in which it also saves its state after every 500,000 readings.`,
        tables: [
          { title: `${wheels} wheels`, unit: 'cores', isLessBetter: true, isComparison: false, series },
        ],
      },
      { profile },
    );
  } finally {
    unpin();
  }
}

async function measureOnce(
  service: ServiceProcess,
  { installations: wheels, every, seconds }: Omit<FleetOptions, 'rounds' | 'profile'>,
): Promise<Measurement> {
  const [beforeMs, startedMs] = [service.cpuMs(), performance.now()];
  const foldedBefore = await readFolded(service);
  let [largestLag, largestBytes] = [0, 0];
  while (performance.now() - startedMs < seconds * 1_000) {
    await wait(sampleMs);
    largestLag = Math.max(largestLag, (await service.metric(lag)) ?? Number.NaN);
    largestBytes = Math.max(largestBytes, service.residentBytes());
  }
  const elapsedSeconds = (performance.now() - startedMs) / 1_000;
  const foldedPerSecond = ((await readFolded(service)) - foldedBefore) / elapsedSeconds;
  if (foldedPerSecond < (wheels / every) * foldedShareMin)
    throw new Error(
      `${largestLag > wheels / every ? 'the service' : 'the load'} does not keep up: ${Math.round(foldedPerSecond)} readings/s are folded`,
    );
  return {
    value: (service.cpuMs() - beforeMs) / 1_000 / elapsedSeconds,
    others: {
      'readings/s': foldedPerSecond,
      'resident MiB': largestBytes / 2 ** 20,
      'largest lag in messages': largestLag,
    },
  };
}

async function readFolded(service: ServiceProcess): Promise<number> {
  return (await service.metric(position)) ?? 0;
}
