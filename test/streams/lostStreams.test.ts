import { describe, expect, it } from 'vitest';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { noteLineage } from '../../storage/lineages.ts';
import { withRemovalMarks } from '../../storage/removals.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { createStoredReadings } from '../../streams/counter/storedReadings.ts';
import { isHistoryReplaced } from '../../streams/follower/storedHistory.ts';
import { findLostStreams } from '../../streams/ingest/lostStreams.ts';
import { createStreamVerifier } from '../../streams/jetstream/sourceVerification.ts';
import { askUntilProven, createSuspicions } from '../../streams/jetstream/suspicions.ts';
import { genesisMs } from '../support/genesis.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { createBaseline } from '../support/storage/createBaseline.ts';
import { openForTest, openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { prepareToFollow, followedStream as stream } from '../support/streams/testFollower.ts';

it('the chain is lost with the stream of its newest lineage', async () => {
  const { nats, database } = await prepareToFollow();
  const { jsm } = nats;
  const { config, created } = await jsm.streams.info('MINER_CHAIN');
  await noteLineage(database, { ...someLineage, streamCreated: created }, 0);
  const suspicions = createSuspicions(systemClock);
  const find = () =>
    askUntilProven(() => findLostStreams({ database, jetStream: nats, suspicions, clock: systemClock }));
  expect(await find()).toEqual([]);

  await jsm.streams.delete('MINER_CHAIN');
  expect(await find()).toEqual([{ stream: 'MINER_CHAIN', folded: created, found: null }]);
  await jsm.streams.add(config as Parameters<typeof jsm.streams.add>[0]);
  const { created: found } = await jsm.streams.info('MINER_CHAIN');
  expect(await find()).toEqual([{ stream: 'MINER_CHAIN', folded: created, found }]);
  await noteLineage(database, { ...someLineage, step: 2, streamCreated: found }, 0);
  expect(await find()).toEqual([]);
});

it('a database of 1.0 names the streams of its snapshots before it is migrated', async () => {
  const jetStream = await connectTo(await startNats());
  await createRemovableStreams(jetStream.jsm);
  const database = openForTest();
  await createBaseline(database);
  await database.command(
    `INSERT INTO fold_snapshots_g1 (snapshot, stream, stream_created) VALUES ('one', 'MINER_PIPELINE', 'then')`,
  );
  const suspicions = createSuspicions(systemClock);
  const lost = await askUntilProven(() =>
    findLostStreams({ database, jetStream, suspicions, clock: systemClock }),
  );
  expect(lost).toMatchObject([{ stream: 'MINER_PIPELINE', folded: 'then' }]);
});

it('the history of a stream is replaced if a row above the restored state names a deleted message, unless retention removed it, or if a removal was cut off', async () => {
  const { nats, database } = await prepareToFollow();
  for (let number = 0; number < 3; number++) await nats.js.publish('miner.counter.wheel', 'message');
  await nats.jsm.streams.deleteMessage(stream, 2);
  const verifier = createStreamVerifier({ jsm: nats.jsm, stream, clock: systemClock });
  const isReplaced = (foldedThrough: number, ...others: number[]) =>
    askUntilProven(() =>
      isHistoryReplaced({
        database,
        stream,
        verifier,
        readOrigins: async () => [2, ...others].map((position) => ({ position, isMessage: () => true })),
        foldedThrough,
      }),
    );
  expect([await isReplaced(1), await isReplaced(2)]).toEqual([true, false]);
  await nats.jsm.streams.purge(stream, { seq: 3 });
  expect([await isReplaced(1), await isReplaced(1, 4)]).toEqual([false, true]);
  await withRemovalMarks(database, () => Promise.reject()).catch(() => undefined);
  expect(await isReplaced(1)).toBe(true);
});

const identity = { foldVersion: 1, configuration: 'ours' };

it('a stream is not lost because NATS does not answer', async () => {
  const { database, tables } = await openTables();
  const readings = [acceptedReading({ position: 1 })];
  await storeRows(database, tables, { readings });
  await noteGeneration(database, {
    ...identity,
    streamCreated: 'then',
    generation: tables.generation,
    atMs: 0,
  });
  const jetStream = { jsm: { streams: { info: () => Promise.reject(new Error('timeout')) } } } as never;
  const suspicions = createSuspicions(systemClock);
  await expect(findLostStreams({ database, jetStream, suspicions, clock: systemClock })).rejects.toThrow(
    'timeout',
  );
});

const readingsOfStream = 3;

/** A stream whose first reading is purged, with the rows of an earlier stream of the same name. */
async function createAgain() {
  const { connection, jsm } = await connectTo(await startNats());
  const create = () => createRemovableStreams(jsm, ['MINER_COUNTER']);
  await create();
  const { database, tables } = await openTables();
  const readCreated = async () => (await jsm.streams.info('MINER_COUNTER')).created;
  await noteGeneration(database, {
    ...identity,
    streamCreated: await readCreated(),
    generation: tables.generation,
    atMs: 0,
  });
  await jsm.streams.delete('MINER_COUNTER');
  await create();
  const messages = Array.from({ length: readingsOfStream }, (_, index) => readingMessage('wheel.one', index));
  await publishAll(connection, messages.map(toPublication));
  await jsm.streams.purge('MINER_COUNTER', { seq: 2 });
  /** Stores readings of the positions from 1 on. */
  const store = async (telemetryIds: readonly string[], observedAtMs = genesisMs) => {
    const readings = telemetryIds.map((telemetryId, at) =>
      acceptedReading({ position: at + 1, telemetryId, observedAtMs }),
    );
    await storeRows(database, tables, { readings });
  };
  const saveState = async () => {
    const snapshots = createSnapshotStore({ database, tables: () => tables });
    const streamCreated = await readCreated();
    const place = {
      stream: 'MINER_COUNTER',
      run: '',
      streamCreated,
      position: 3,
      digest: null,
      takenAtMs: 0,
    } as const;
    await snapshots.save({ ...identity, ...place }, []);
  };
  const readPositions = async (oldestMs: number | null = null): Promise<number[]> => {
    const read = createStoredReadings({
      database,
      jsm,
      verifier: createStreamVerifier({ jsm, stream, clock: systemClock }),
      tables: () => tables,
      oldestRowMs: () => oldestMs,
      logger: silentLogger,
    });
    return askUntilProven(async () => {
      const positions: number[] = [];
      for await (const some of read(0, 1)) positions.push(...some.map(({ position }) => position));
      return positions;
    });
  };
  return { telemetryIds: messages.map(({ telemetryId }) => telemetryId), store, saveState, readPositions };
}

const others = acceptedReading({ position: 9 }).telemetryId;

describe('stored readings of messages that have left a recreated stream', () => {
  it.each([
    ['which the stream has another message for', 3],
    ['which the stream has not reached yet', 4],
    ['whose message has left it too', 1],
  ])('are not those of the stream before, of a newest row %s', async (_, rows) => {
    const { store, readPositions } = await createAgain();
    await store(Array.from({ length: rows }, () => others));
    expect(await readPositions()).toEqual([]);
  });

  it('belong to the stream if it holds the message of the newest row', async () => {
    const { telemetryIds, store, readPositions } = await createAgain();
    await store(telemetryIds);
    expect([await readPositions(), await readPositions(Date.now())]).toEqual([[1], []]);
  });

  it('are left out if they name a time of the far future, which earlier versions accepted', async () => {
    const { store, saveState, readPositions } = await createAgain();
    await store([others], Date.UTC(2100, 0));
    await saveState();
    expect(await readPositions()).toEqual([]);
  });

  it('belong to the stream if a state was saved since', async () => {
    const { store, saveState, readPositions } = await createAgain();
    await store([others]);
    await saveState();
    expect(await readPositions()).toEqual([1]);
  });
});
