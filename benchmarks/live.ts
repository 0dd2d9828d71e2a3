import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { startLocalNats } from '../deploy/local/localNats.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { delaysTable, measureReadingDelays } from './delays.ts';
import type { LiveTask } from './liveLoad.ts';
import type { Series } from './measureInterleaved.ts';
import { pinThisProcess, pinToCore } from './pinToCore.ts';
import { type PartialRun, publishResults, type ResultTable } from './results.ts';
import { startClickHouse, startServer } from './servers.ts';
import { startServiceProcess, storedPosition } from './serviceProcess.ts';
import { startLoad } from './startLoad.ts';
import { inWorkspace } from './workspace.ts';
import { loadCore, serverCore } from './wrk.ts';

const bareConsumer = fileURLToPath(new URL('./bareConsumer.js', import.meta.url));
/** Time until every wheel of the load has its actor, and code is compiled. */
const settleMs = 5_000;
/** Required share of stored readings: the readings of the last seconds wait in memory. */
const storedShareMin = 0.5;

interface LiveOptions extends Clients, Pick<PartialRun, 'profile'> {
  readonly rounds: number;
}

type Clients = Omit<LiveTask, 'natsUrl' | 'publicUrl' | 'everySeconds'>;

/**
 * Measures how long a reading takes to its route while many wheels report, and many clients poll and listen.
 *
 * @throws Error if the load or the service does not keep up.
 */
export async function measureLive({ rounds, profile, ...clients }: LiveOptions): Promise<void> {
  // NATS and the load inherit the core; the service and ClickHouse have the other.
  const unpin = pinThisProcess(loadCore);
  const tables: ResultTable[] = [];
  try {
    for (const isDatabaseApart of [true, false]) {
      const title = `${delaysTable.title}; ClickHouse is ${isDatabaseApart ? 'a process of its own' : 'embedded'}`;
      const series = await measure({ clients, isDatabaseApart, rounds, profile });
      tables.push({ ...delaysTable, title, series });
    }
  } finally {
    unpin();
  }
  const [wheels, pollers, listeners] = [clients.installations, clients.pollers, clients.listeners].map(
    (count) => count.toLocaleString('en-US'),
  );
  const about = `Meanwhile ${wheels} wheels publish a reading a second each, ${pollers} clients send a request a second each, and ${listeners} read the event stream. The service, ClickHouse and the bare consumer have one core; nats-server, the load and the measurement share the other. The bare consumer receives all readings too, and decodes them.`;
  publishResults({ command: 'live', about, tables }, { profile });
}

interface LiveRun {
  readonly clients: Clients;
  /** Whether ClickHouse has its own process, as in a deployment; otherwise it is embedded. */
  readonly isDatabaseApart: boolean;
  readonly rounds: number;
  readonly profile: string | undefined;
}

function measure({ clients, isDatabaseApart, rounds, profile }: LiveRun): Promise<Series[]> {
  return inWorkspace(async ({ dir, onEnd }) => {
    const bareUrl = new URL(`http://127.0.0.1:${await findFreePort()}/`);
    const nats = await startLocalNats({ dir: join(dir, 'nats'), logger: pino({ level: 'error' }) });
    onEnd(nats.stop);
    const clickHouse = isDatabaseApart ? await startClickHouse(join(dir, 'clickhouse'), serverCore) : null;
    if (clickHouse !== null) onEnd(clickHouse.stop);
    const environment = {
      MINER_NATS_URL: nats.url,
      ...(clickHouse !== null && { MINER_CLICKHOUSE_URL: clickHouse.url }),
    };
    const service = await startServiceProcess({ dir, environment, core: serverCore, profile });
    onEnd(service.stop);
    await service.readyAfterMs();
    const bare = await startServer(
      pinToCore(serverCore, [process.execPath, bareConsumer, nats.url, bareUrl.port]),
      bareUrl.href,
    );
    onEnd(bare.stop);
    const load = await startLoad({
      ...clients,
      everySeconds: 1,
      natsUrl: nats.url,
      publicUrl: service.publicUrl,
    });
    onEnd(load.stop);
    await wait(settleMs);
    const startedMs = performance.now();
    const before = (await service.metric(storedPosition)) ?? 0;
    const series = await measureReadingDelays(
      { ...service, natsUrl: nats.url, bareUrl: bareUrl.href },
      rounds,
    );
    const stored = ((await service.metric(storedPosition)) ?? 0) - before;
    const perSecond = stored / ((performance.now() - startedMs) / 1_000);
    if (load.hasEnded() || perSecond < clients.installations * storedShareMin)
      throw new Error(`the load ended, or the service did not keep up: ${Math.round(perSecond)} readings/s`);
    return series;
  });
}
