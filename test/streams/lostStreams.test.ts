import { describe, expect, it } from 'vitest';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { createStoredReadings } from '../../streams/definitions/storedReadings.ts';
import { findLostStreams } from '../../streams/ingest/lostStreams.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven, createSuspicions } from '../../streams/jetstream/proofs/suspicions.ts';
import { type StreamPort, StreamRefusal } from '../../streams/nats/streamPort.ts';
import { genesisMs } from '../support/genesis.ts';
import { manualClock } from '../support/manualClock.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { followedStream as stream } from '../support/streams/testFollower.ts';

/** Looks for streams that were lost since they were created `then`. */
async function openFinder(
  jetStream: Partial<StreamPort>,
  clock: Clock,
  lost: readonly InputStreamName[] = [stream],
) {
  const { database } = await openTables();
  for (const [epoch, name] of lost.entries())
    await noteLineage(database, { ...someLineage, stream: name, epoch, streamCreated: 'then' }, 0);
  const suspicions = createSuspicions(clock);
  return () => findLostStreams({ database, jetStream: jetStream as StreamPort, suspicions, clock });
}

it('the same answers prove the loss of two streams', async () => {
  const { jetStream, jsm } = await connectTo(await startNats());
  await createRemovableStreams(jsm);
  const find = await openFinder(jetStream, systemClock, ['MINER_CHAIN', 'MINER_PIPELINE']);
  await jsm.streams.delete('MINER_PIPELINE');
  await expect(find()).rejects.toThrow(/^MINER_CHAIN@then is lost/);
  expect(await find()).toMatchObject([
    { stream: 'MINER_CHAIN', folded: 'then', found: expect.any(String) },
    { stream: 'MINER_PIPELINE', folded: 'then', found: null },
  ]);
});

it('a stream is not lost because NATS does not answer', async () => {
  const find = await openFinder({ info: () => Promise.reject(new Error('timeout')) }, systemClock);
  await expect(find()).rejects.toThrow('timeout');
});

it('a stream is lost by four answers over 30 seconds if one server of a cluster may not know it', async () => {
  const clock = manualClock();
  const info = () => Promise.reject(new StreamRefusal('missing', 'stream not found'));
  const find = await openFinder(
    { info, server: () => ({ address: '', version: '', isClustered: true }) },
    clock,
  );
  for (let answer = 1; answer <= 3; answer++) {
    await expect(find()).rejects.toThrow('not proven');
    clock.advance(10_000);
  }
  expect(await find()).toEqual([{ stream, folded: 'then', found: null }]);
});

/** A stream that was created again, whose first reading is purged. Rows and lineages are a test's. */
async function createAgain() {
  const { jsm, ...nats } = await connectTo(await startNats());
  const create = () => createRemovableStreams(jsm, [stream]);
  const readCreated = async () => (await jsm.streams.info(stream)).created;
  await create();
  const before = await readCreated();
  await jsm.streams.delete(stream);
  await create();
  const messages = [0, 1, 2].map((index) => readingMessage('wheel.one', index));
  await publishAll(nats.connection, messages.map(toPublication));
  await jsm.streams.purge(stream, { seq: 2 });
  const current = await readCreated();
  const { database } = await openTables();
  let step = 0;
  return {
    before,
    current,
    /** Stores readings of messages from 1 on. */
    store: (count: number, { observedAtMs = genesisMs, run = 'run' } = {}) => {
      const positions = Array.from({ length: count }, (_, at) => at + 1);
      const readings = positions.map((position) => acceptedReading({ position, observedAtMs }));
      return storeRows(database, { readings }, run);
    },
    note: (streamCreated: string, change: Partial<Lineage> = {}) =>
      noteLineage(database, { ...someLineage, stream, step: ++step, streamCreated, ...change }, 0),
    readPositions: (oldestMs: number | null = null): Promise<number[]> => {
      const read = createStoredReadings({
        database,
        verifier: createStreamVerifier({ ...nats, stream, clock: systemClock }),
        oldestReadingMs: () => oldestMs,
        logger: silentLogger,
      });
      return askUntilProven(async () => {
        const positions: number[] = [];
        for await (const some of read(0, 1)) positions.push(...some.map(({ position }) => position));
        return positions;
      });
    },
  };
}

describe('stored readings of messages that have left a stream', () => {
  it('are not those of a stream of the same name that was there before', async () => {
    const { before, current, store, note, readPositions } = await createAgain();
    await store(4);
    expect(await readPositions()).toEqual([]);
    await note(before);
    expect(await readPositions()).toEqual([]);
    // A process has begun on the new stream, and has stored nothing of it.
    await note(current, { runs: [{ run: 'next', through: openEnd }] });
    expect(await readPositions()).toEqual([]);
  });

  it('are those that count of its newest lineage, whichever fold has made them', async () => {
    const { before, current, store, note, readPositions } = await createAgain();
    await store(3);
    await note(current, { foldVersion: 1, configuration: 'theirs' });
    expect([await readPositions(), await readPositions(Date.now())]).toEqual([[1], []]);
    // Neither a replay under way nor the stream before changes that.
    await store(1, { run: 'replay' });
    await note(current, { cause: 'filling', runs: [{ run: 'replay', through: openEnd }], epoch: 9 });
    await note(before, { runs: [] });
    expect(await readPositions()).toEqual([1]);
    await note(current, {
      runs: [
        { run: 'run', through: 0 },
        { run: 'next', through: openEnd },
      ],
    });
    expect(await readPositions()).toEqual([]);
  });

  it('are left out if they name a time of the far future', async () => {
    const { current, store, note, readPositions } = await createAgain();
    await store(1, { observedAtMs: Date.UTC(2100, 0) });
    await note(current);
    expect(await readPositions()).toEqual([]);
  });
});
