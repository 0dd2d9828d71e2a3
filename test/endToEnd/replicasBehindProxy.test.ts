import { Agent, get } from 'node:http';
import { describe, expect, it } from 'vitest';
import { findServer } from '../../deploy/local/childServer.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { whenFinished } from '../support/processes/lifetime.ts';
import {
  ask,
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { startBalancer } from '../support/processes/nginxBalancer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const paths = [
  '/v1/public/telemetry',
  '/v4/public/process',
  '/v1/public/installations/wheel.one/observations?limit=10',
];
const clients = 6;
/** Between two requests of a client: enough that each moment of an end is met, and little work. */
const pauseMs = 5;

/** Clients that send one request after another, on connections that stay open. */
function sendRequests(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const failures: string[] = [];
  let answered = 0;
  let isStopping = false;
  const send = (path: string) =>
    new Promise<void>((resolve) => {
      const request = get(`${url}${path}`, { agent }, (response) => {
        response.resume().on('end', () => {
          answered++;
          if (response.statusCode !== 200) failures.push(`${path}: ${response.statusCode}`);
          resolve();
        });
      });
      request.on('error', (error) => {
        failures.push(`${path}: ${error.message}`);
        resolve();
      });
    });
  const running = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let turn = client; !isStopping; turn++) {
        await send(paths[turn % paths.length] as string);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }),
  );
  const stop = async () => {
    isStopping = true;
    await running;
    agent.destroy();
  };
  whenFinished(stop);
  return { failures, answered: () => answered, stop };
}

const engine = useClickHouseEngine();
const portOf = ({ publicUrl }: MinerProcess) => Number(new URL(publicUrl).port);

const nginx = findServer('nginx');

describe('three replicas behind nginx', () => {
  it.skipIf(nginx === null)(
    'fail no request while one is killed and one is drained, which says so and answers to the end',
    async () => {
      const [nats, clickhouseUrl] = [await startNats(), await engine.createDatabase()];
      const { connection } = await connectTo(nats);
      const start = (role: 'ingest' | 'serve') =>
        startMiner({
          role,
          natsUrl: nats.url,
          clickhouseUrl,
          dataDir: temporaryDirectory(),
          environment: { MINER_DRAIN_SECONDS: role === 'serve' ? '2' : '0' },
        });
      const ingest = await start('ingest');
      await waitUntilReady(ingest);
      await publishAll(connection, mixedPublications(600));
      await waitUntilStored(ingest, 600);
      const replicas = await Promise.all([start('serve'), start('serve'), start('serve')]);
      for (const replica of replicas) await waitUntilReady(replica);
      const [killed, drained] = replicas as [MinerProcess, MinerProcess, MinerProcess];
      const load = sendRequests(await startBalancer(nginx ?? '', replicas.map(portOf)));
      const more = async (count: number) => {
        const before = load.answered();
        await eventually(() => load.answered() >= before + count, `${count} more answers`);
      };
      await more(100);
      await killed.end('SIGKILL');
      await more(200);

      drained.child.kill('SIGTERM');
      const readiness = await eventually(async () => {
        const found = await fetchReadiness(drained);
        return found.waitingFor.includes('the end of this process') && found;
      }, 'the announcement');
      expect(readiness.status).toBe('waiting');
      expect((await ask(`${drained.publicUrl}/readyz`)).status).toBe(503);
      const direct = await ask(`${drained.publicUrl}/v1/public/telemetry`);
      expect([direct.status, direct.headers.get('connection')]).toEqual([200, 'close']);
      await more(100);
      expect(await drained.exited).toBe(0);
      await more(100);
      await load.stop();
      expect(load.failures).toEqual([]);
    },
  );
});
