import { describe, expect, it } from 'vitest';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { createStoredReadings } from '../../streams/counter/storedReadings.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const identity = { foldVersion: 1, configuration: 'ours' };
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
  const store = async (telemetryIds: readonly string[]) => {
    const readings = telemetryIds.map((telemetryId, at) =>
      acceptedReading({ position: at + 1, telemetryId }),
    );
    await storeRows(database, tables, { readings });
  };
  const saveState = async () => {
    const snapshots = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
    const streamCreated = await readCreated();
    const place = { stream: 'MINER_COUNTER', position: 3, digest: null, takenAtMs: 0 } as const;
    await snapshots.saveBase({ ...identity, ...place, streamCreated }, []);
  };
  const read = createStoredReadings({
    database,
    jsm,
    tables: () => tables,
    oldestRowMs: () => null,
    logger: silentLogger,
  });
  const readPositions = async (): Promise<number[]> => {
    const positions: number[] = [];
    for await (const some of read(0, 1)) positions.push(...some.map(({ position }) => position));
    return positions;
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
    expect(await readPositions()).toEqual([1]);
  });

  it('belong to the stream if a state was saved since', async () => {
    const { store, saveState, readPositions } = await createAgain();
    await store([others]);
    await saveState();
    expect(await readPositions()).toEqual([1]);
  });
});
