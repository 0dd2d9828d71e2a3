import { moduleSubject } from '../../../actors/messages/subjects.ts';
import { buildChainMembers } from '../../support/chain/buildChainMembers.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { startEconomy, type TestEconomy } from '../../support/chain/testEconomy.ts';
import { eventually } from '../../support/processes/childProcess.ts';
import { startCuttingProxy } from '../../support/processes/cuttingProxy.ts';
import {
  fetchReadiness,
  type MinerProcess,
  type MinerSettings,
  startMiner,
  waitUntilReady,
} from '../../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../../support/processes/natsServer.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { moduleBody } from '../../support/readings/pipelineBodies.ts';
import { publishAll, publishMany } from '../../support/readings/readingMessages.ts';

/** A process, by its instance and by the deployment that it belongs to. */
export interface Part {
  readonly deployment: 'one process' | 'all roles';
  readonly instance: string;
  readonly process: MinerProcess;
}

export const standbys = ['standby that ingests', 'standby that serves'];

/** Short, so that views of the chain soon show an outage of the node. */
const chainStaleSeconds = 20;
const historyLength = 1_000;

/** Starts a process that does everything, and a deployment with a process of every other role, over one chain. */
export async function startEveryRole(clickhouseUrl: string) {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, 61);
  await random.open();
  for (let step = 0; step < 45; step++) await random.step();
  const node = await startCuttingProxy(economy.url);
  const indexes = { MINER_RPC_URL: node.url };

  const own = await prepareDeployment(economy, null);
  const alone = await own.start('run', indexes);
  const { nats, start, publish, publishHistory } = await prepareDeployment(economy, clickhouseUrl);
  const holder = await start('ingest');
  await waitUntilReady(holder);
  const processes = {
    holder,
    'standby that ingests': await start('ingest'),
    'standby that serves': await start('run'),
    replica: await start('serve'),
    'indexer 0': await start('index', indexes),
    'indexer 1': await start('index', indexes),
  };
  const standsBy = async (process: MinerProcess) =>
    (await fetchReadiness(process)).standbyFor?.pid === holder.pid;
  for (const process of [processes['standby that ingests'], processes['standby that serves']])
    await eventually(() => standsBy(process), 'a standby');
  for (const process of [alone, processes.replica]) await waitUntilReady(process);
  await Promise.all([own.publishHistory(), publishHistory()]);
  const parts: Part[] = [
    { deployment: 'one process', instance: 'alone', process: alone },
    ...Object.entries(processes).map(
      ([instance, process]): Part => ({ deployment: 'all roles', instance, process }),
    ),
  ];
  return {
    economy,
    node,
    /** The server that the deployment with all roles uses. */
    nats,
    parts,
    /** Publishes a message to each stream of publishers. */
    publish: { 'one process': own.publish, 'all roles': publish },
  };
}

/** @param clickhouseUrl null for the embedded engine. */
async function prepareDeployment(economy: TestEconomy, clickhouseUrl: string | null) {
  const nats = await startNats();
  const { connection } = await connectTo(nats);
  let published = historyLength;
  return {
    nats,
    start: (role: NonNullable<MinerSettings['role']>, environment: Readonly<Record<string, string>> = {}) =>
      startMiner({
        role,
        natsUrl: nats.url,
        dataDir: temporaryDirectory(),
        onChain: buildChainMembers(economy),
        environment: {
          MINER_CHAIN_STALE_SECONDS: String(chainStaleSeconds),
          ...environment,
        },
        ...(clickhouseUrl !== null && { clickhouseUrl }),
      }),
    publishHistory: () => publishMany(connection, 'wheel.one', 0, historyLength),
    publish: async () => {
      const body = JSON.stringify({ ...moduleBody, moduleVersion: `1.${published}.0` });
      await publishAll(connection, [{ subject: moduleSubject('wheel.one', 'sensor'), body }]);
      await publishMany(connection, 'wheel.one', published, ++published);
    },
  };
}
