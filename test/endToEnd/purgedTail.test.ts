import { expect, it } from 'vitest';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const count = 1_000;
const readings = Array.from({ length: count }, (_, index) =>
  toPublication(readingMessage('wheel.one', index)),
);

it('rows whose messages left the stream after the snapshot stay on the pages and in their half hours after a restart', async () => {
  const nats = await startNats();
  const { connection, jsm } = await connectTo(nats);
  await createRemovableStreams(jsm);
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  await publishAll(connection, readings);
  await waitUntilStored(miner, count);
  const before = await allObservations(miner, 'wheel.one');
  expect(before).toHaveLength(count);
  await miner.end('SIGKILL');
  const stored = await storedState({ path: `${dataDir}/clickhouse` });

  await jsm.streams.purge('MINER_COUNTER', { seq: 701 });
  const second = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilStored(second, count);
  expect(await allObservations(second, 'wheel.one')).toEqual(before);
  await second.end('SIGTERM');
  const after = await storedState({ path: `${dataDir}/clickhouse` });
  expect(after.readings).toEqual(stored.readings);
  expect(after.rounds).toEqual(stored.rounds);
  expect(after.buckets).toEqual(stored.buckets);
});
