import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { pollUntil } from '../storage/pollUntil.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { startClickHouseProcess } from './clickHouseProcess.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { startNatsProcess } from './natsProcess.ts';
import { publishReadings } from './readingLoad.ts';
import { publishResults, type ResultTable } from './results.ts';
import { type ServiceProcess, startServiceProcess, storedPosition } from './serviceProcess.ts';
import { cpuPerRequest, measureLoadAndCpu, readWrkVersion } from './wrk.ts';

const installationId = 'wheel-0';
const readings = 50_000;
/** Prepared bytes, so that the load costs as much as the responses; and a page that is computed for each request. */
const cases = [
  { title: 'Polling `/v4/public/process`', route: '/v4/public/process', path: '/v4/public/process' },
  {
    title: 'Polling the newest 100 observations',
    route: '/v1/public/installations/{installationId}/observations',
    path: `/v1/public/installations/${installationId}/observations?limit=100&cursor=${encodeCursor(readings - 100)}`,
  },
] as const;
/** Shows what is folded, and nothing of the time of the answer. */
const statePath = '/v1/public/telemetry';
const secondsOfLoad = 2;
/** What each replica would answer with a core to itself, which this machine does not have: requests by the CPU time that they took. */
const onFreeCores = 'requests/s, on free cores';
const askedForState = 40;
const pollMs = 100;

export interface ScaleOutOptions {
  readonly rounds: number;
}

/** One writer, and one or two read replicas that share a port. */
export async function measureScaleOut({ rounds }: ScaleOutOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const stops: (() => Promise<void>)[] = [];
  try {
    const clickHouse = await startClickHouseProcess(join(dir, 'clickhouse'));
    stops.push(clickHouse.stop);
    const nats = await startNatsProcess(join(dir, 'nats'));
    stops.push(nats.stop);
    const shared = { MINER_NATS_URL: nats.url, MINER_CLICKHOUSE_URL: clickHouse.url };
    const ingest = await startServiceProcess({
      dir,
      installationId,
      command: 'ingest',
      environment: shared,
    });
    stops.push(ingest.stop);
    await ingest.readyAfterMs();
    const connection = await connect({ servers: nats.url });
    await publishReadings(connection, { id: installationId, count: readings, intervalMs: 10_000 });
    await closeNats(connection);
    await pollUntil(async () => ((await ingest.metric(storedPosition)) ?? 0) >= readings, {
      everyMs: pollMs,
    });

    const environment = {
      ...shared,
      MINER_HTTP_PORT: String(await findFreePort()),
      MINER_PORT_SHARED: 'on',
    };
    const startReplica = async () => {
      const replica = await startServiceProcess({ dir, installationId, command: 'serve', environment });
      await replica.readyAfterMs();
      return replica;
    };
    const first = await startReplica();
    stops.push(first.stop);
    const base = first.publicUrl;
    const tables: ResultTable[] = [];
    for (const { title, route, path } of cases) {
      const poll = async (replicas: readonly ServiceProcess[]): Promise<Measurement> => {
        const request = { url: `${base}${path}`, headers: {}, seconds: secondsOfLoad };
        const { value, others } = await measureLoadAndCpu(request, replicas);
        const micros = others[cpuPerRequest] ?? Number.NaN;
        return { value, others: { ...others, [onFreeCores]: (replicas.length * 1e6) / micros } };
      };
      const both = async () => {
        const second = await startReplica();
        await requireOneState(base);
        const measured = await poll([first, second]);
        const answered = await second.metric(`miner_http_requests_total{route="${route}",status="200"}`);
        await second.stop();
        if (!((answered ?? 0) > 0)) throw new Error('the second replica received no request');
        return measured;
      };
      const contenders = [
        { name: 'two replicas', measure: both },
        { name: 'one replica', measure: () => poll([first]) },
      ];
      tables.push({ title, unit: 'requests/s', series: await measureInterleaved(contenders, rounds) });
    }
    publishResults({
      command: 'scale-out',
      about: `All parts and the load (${await readWrkVersion()}, on one core) on this one machine, which also runs a writer, ClickHouse and NATS. With a core for each replica they would answer what the last column says: a core's time divided by that of a request, times the replicas. Beside the load they wake for fewer requests at a time, and each takes more CPU.`,
      tables,
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The cursor behind a position (CONTRACT.md, Cursors). */
function encodeCursor(position: number): string {
  return Buffer.from(String(position)).toString('base64url');
}

/** @throws Error when replicas show different states. */
async function requireOneState(base: string) {
  const bodies = new Set<string>();
  for (let asked = 0; asked < askedForState; asked++) bodies.add(await fetchBody(`${base}${statePath}`));
  if (bodies.size !== 1) throw new Error(`replicas differ: ${[...bodies].join('\n')}`);
}

/** On a connection of its own, which any of the replicas may take. */
function fetchBody(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });
}
