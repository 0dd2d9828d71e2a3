import { describe, expect, it } from 'vitest';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const readings = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, offset) => toPublication(readingMessage('wheel.one', from + offset)));

async function runAndKill(count: number) {
  const nats = await startNats();
  const { connection, jsm } = await connectTo(nats);
  await createRemovableStreams(jsm);
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  await publishAll(connection, readings(0, count));
  await waitUntilStored(miner, count);
  const before = await allObservations(miner, 'wheel.one');
  expect(before).toHaveLength(count);
  await miner.end('SIGKILL');
  return { nats, jsm, dataDir, before };
}

describe('rows whose messages have left the stream since the snapshot', () => {
  it('are on the pages after a restart', async () => {
    const { nats, jsm, dataDir, before } = await runAndKill(1_000);
    await jsm.streams.purge('MINER_COUNTER', { seq: 701 });
    const second = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilStored(second, 1_000);
    const after = await allObservations(second, 'wheel.one');
    expect(after.length).toBe(before.length);
    expect(after[0]).toEqual(before[0]);
  });

  it('keep their half-hour bucket as it was', async () => {
    const { nats, jsm, dataDir } = await runAndKill(1_000);
    const stored = await storedState({ path: `${dataDir}/clickhouse` });
    await jsm.streams.purge('MINER_COUNTER', { seq: 701 });
    const second = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilStored(second, 1_000);
    await second.end('SIGTERM');
    const after = await storedState({ path: `${dataDir}/clickhouse` });
    expect(after.readings).toEqual(stored.readings);
    expect(after.rounds).toEqual(stored.rounds);
    expect(after.buckets).toEqual(stored.buckets);
  });
});
