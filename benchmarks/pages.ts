import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { pino } from 'pino';
import { findLastReading, runGateway } from '../deploy/local/simulatedGateway.ts';
import { rebootWheel, resumeWheel } from '../deploy/local/simulatedWheel.ts';
import { closeNats } from '../streams/nats/connection.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { fillData } from './filledData.ts';
import type { LiveTask } from './liveLoad.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { pinThisProcess } from './pinToCore.ts';
import { type PartialRun, publishResults } from './results.ts';
import { type ServiceProcess, startServiceProcess } from './serviceProcess.ts';
import { startLoad } from './startLoad.ts';
import { inWorkspace } from './workspace.ts';
import { loadCore, serverCore } from './wrk.ts';

/** Time until every client has asked once, and holds a tag. */
const settleMs = 8_000;

interface PagesOptions extends PartialRun {
  readonly rounds: number;
  readonly clients: number;
  readonly seconds: number;
}

type Asking = NonNullable<LiveTask['asking']>;

/**
 * Measures what open pages cost the service, against programs that poll one route, while a wheel reports once a second.
 *
 * @throws Error if the service refuses a client.
 */
export async function measurePages({
  rounds,
  clients,
  seconds,
  only = '',
  profile,
}: PagesOptions): Promise<void> {
  const unpin = pinThisProcess(loadCore);
  try {
    const series = await inWorkspace(async ({ dir, onEnd }) => {
      const environment = await fillData(dir);
      const service = await startServiceProcess({ dir, environment, core: serverCore, profile });
      onEnd(service.stop);
      await service.readyAfterMs();
      onEnd(await startWheel(service, dir));
      const page = await (await fetch(service.publicUrl)).text();
      const refreshSeconds = Number(/data-refresh-seconds="(\d+)"/.exec(page)?.[1]);
      const poll = { count: clients, path: '/v1/status', isFollowing: false };
      const open = { count: clients, path: '/', everySeconds: refreshSeconds, isFollowing: true };
      const contenders: readonly (readonly [string, Asking | null])[] = [
        ['open pages', open],
        ['`/v1/status`, as often as pages', { ...poll, everySeconds: refreshSeconds }],
        ['`/v1/status`, every second', { ...poll, everySeconds: 1 }],
        ['nobody', null],
      ];
      return measureInterleaved(
        contenders
          .filter(([name]) => name.includes(only))
          .map(([name, asking]) => ({ name, measure: () => measureOnce(service, asking, seconds) })),
        rounds,
        { areWarm: true },
      );
    });
    const about = `${clients.toLocaleString('en-US')} clients ask for an address again, with its tag, for ${seconds} seconds each; open pages read the event stream, too. A simulated wheel reports once a second. The service has one core.`;
    const table = {
      title: `${clients.toLocaleString('en-US')} clients`,
      unit: 'CPU ms/s',
      isLessBetter: true,
      series,
    };
    publishResults({ command: 'pages', about, tables: [table] }, { profile, ...(only !== '' && { only }) });
  } finally {
    unpin();
  }
}

/** Continues the wheel of the data folder in real time. @returns a function that stops it. */
async function startWheel({ natsUrl }: ServiceProcess, dir: string) {
  const connection = await connect(readNatsAccess({ url: natsUrl }));
  const stopping = new AbortController();
  const { installationId, seed } = JSON.parse(readFileSync(join(dir, 'simulation.json'), 'utf8'));
  const last = await findLastReading(await jetstreamManager(connection), installationId);
  if (last === null) throw new Error('the wheel has no past');
  const options = { js: jetstream(connection), logger: pino({ level: 'error' }), signal: stopping.signal };
  const running = runGateway(options, rebootWheel(resumeWheel(last, seed)), Date.now).catch(() => undefined);
  return async () => {
    stopping.abort();
    await running;
    await closeNats(connection);
  };
}

async function measureOnce(
  { publicUrl, natsUrl, cpuMs }: ServiceProcess,
  asking: Asking | null,
  seconds: number,
): Promise<Measurement> {
  const nobody = { natsUrl, publicUrl, installations: 0, everySeconds: 1, pollers: 0, listeners: 0 };
  const load = await startLoad({ ...nobody, ...(asking !== null && { asking }) });
  await wait(settleMs);
  const [beforeMs, startedMs] = [cpuMs(), performance.now()];
  await wait(seconds * 1_000);
  const perSecond = (cpuMs() - beforeMs) / ((performance.now() - startedMs) / 1_000);
  const hasEnded = load.hasEnded();
  await load.stop();
  if (hasEnded) throw new Error('the load ended: the service has refused a client');
  return { value: perSecond, others: {} };
}
