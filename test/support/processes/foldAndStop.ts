import { expect } from 'vitest';
import { startMiner, waitUntilReady, waitUntilStored } from './minerProcess.ts';
import { connectTo, startNats, type TestConnection } from './natsServer.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Data of a service that has folded and stored what was published, and was stopped again; the settings start another one on them. */
export async function foldAndStop(publish: (connection: TestConnection) => Promise<void>) {
  const nats = await startNats();
  const connection = await connectTo(nats);
  const settings = { natsUrl: nats.url, dataDir: temporaryDirectory() };
  const miner = await startMiner(settings);
  await waitUntilReady(miner);
  await publish(connection);
  const { last_seq: last } = (await connection.jsm.streams.info('MINER_COUNTER')).state;
  await waitUntilStored(miner, last);
  expect(await miner.end('SIGTERM')).toBe(0);
  return { connection, settings, last };
}
