import { expect } from 'vitest';
import { createRemovableStreams } from '../streams/removableStreams.ts';
import {
  type MinerSettings,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
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
  return { connection, settings, last };
}
