import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { findActiveTables } from '../../storage/generations.ts';
import { genesisMs } from '../support/genesis.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';
import { storeRows } from '../support/storage/storeRows.ts';
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

describe('a round that was stored without its reading', () => {
  it('goes at the next start, and nothing else with it: NATS may have lost the reading as well, and another one closes the round', async () => {
    const { nats, dataDir } = await runAndKill(1_000);
    const path = `${dataDir}/clickhouse`;
    const stored = await storedState({ path });
    // Readings are written last: a kill in between leaves this.
    const round = {
      installationId: 'wheel.one',
      roundId: 17,
      startMs: genesisMs + 16 * 600_000,
      workUnits: 7n,
      position: 1_030,
    };
    const database = openDatabase({ path });
    await storeRows(database, await findActiveTables(database), { rounds: [round] });
    await database.close();
    expect((await storedState({ path })).rounds).toHaveLength(stored.rounds.length + 1);

    const second = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilReady(second);
    await second.end('SIGTERM');
    expect(await storedState({ path })).toEqual(stored);
  });
});
