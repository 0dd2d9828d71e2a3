import { join } from 'node:path';
import { expect } from 'vitest';
import { type Database, openDatabase } from '../../../storage/clickhouse/database.ts';
import { createRemovableStreams } from '../streams/removableStreams.ts';
import {
  type MinerSettings,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from './minerProcess.ts';
import { connectTo, startNats, type TestConnection } from './natsServer.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Starts a service, waits until it has folded and stored everything that `publish` published, and stops it. The settings start another one on its data. */
export async function foldAndStop(
  publish: (connection: TestConnection) => Promise<void>,
  deployment: Pick<MinerSettings, 'onChain'> = {},
) {
  const nats = await startNats();
  const connection = await connectTo(nats);
  await createRemovableStreams(connection.jsm);
  const settings = { natsUrl: nats.url, dataDir: temporaryDirectory(), ...deployment };
  const miner = await startMiner(settings);
  await waitUntilReady(miner);
  await publish(connection);
  const countStored = async (stream: string) => (await connection.jsm.streams.info(stream)).state.last_seq;
  const last = await countStored('MINER_COUNTER');
  await waitUntilStored(miner, last);
  if (deployment.onChain !== undefined)
    await waitUntilFolded(miner, await countStored('MINER_CHAIN'), 'MINER_CHAIN');
  expect(await miner.end('SIGTERM')).toBe(0);
  const location = { path: join(settings.dataDir, 'clickhouse') };
  const onDatabase = async <Result>(work: (database: Database) => Promise<Result>) => {
    const database = openDatabase(location);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  /** For commands on its data. */
  const environment = {
    MINER_NATS_URL: nats.url,
    MINER_DATA_DIR: settings.dataDir,
    MINER_DEPLOYMENT: writeDeployment(temporaryDirectory()),
  };
  return { connection, settings, last, location, onDatabase, environment };
}
