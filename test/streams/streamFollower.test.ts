import { describe, expect, it } from 'vitest';
import { identifyFold } from '../../actors/folds/foldIdentity.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { batchBytesMax } from '../../streams/jetstream/source/messageBatch.ts';
import { OlderSnapshotNeeded, type StreamFold } from '../../streams/pipeline/streamFold.ts';
import { underWayBytesMax } from '../../streams/pipeline/streamPipeline.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { openWriter } from '../support/streams/openWriter.ts';
import {
  createTestFollower,
  emptySinks,
  prepareToFollow,
  followedStream as stream,
} from '../support/streams/testFollower.ts';

const subject = 'miner.counter.wheel';

/** A fold without output. */
const stateless: StreamFold = {
  identity: identifyFold(1, {}),
  receive: () => ({ rows: noRows, rejections: [] }),
  capture: () => [],
  beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
};

async function prepareStream() {
  const { nats, database } = await prepareToFollow();
  const snapshots = createSnapshotStore(database);
  const publish = async (count: number) => {
    for (let number = 0; number < count; number++) await nats.js.publish(subject, `message ${number}`);
  };
  const publishLarge = async (count: number) => {
    for (let number = 0; number < count; number++) await nats.js.publish(subject, 'x'.repeat(batchBytesMax));
  };
  const created = async () => (await nats.jsm.streams.info(stream)).created;
  return { nats, database, snapshots, publish, publishLarge, created };
}

describe('a follower of a stream', () => {
  it('reads more than may be under way if it stores nothing', async () => {
    const { nats, snapshots, created } = await prepareStream();
    const place = { streamCreated: await created(), position: 0, digest: null };
    await snapshots.save({ ...stateless.identity, ...place, stream, run: '', takenAtMs: 1 }, [], () => true);
    let received = 0;
    const fold: StreamFold = {
      ...stateless,
      receive: ({ messages }) => {
        received += messages.length;
        return { rows: noRows, rejections: [] };
      },
    };
    const follower = createTestFollower(nats, { fold, snapshots, sinks: null });
    const [large, count] = ['x'.repeat(60_000), Math.ceil(underWayBytesMax / 60_000) + 1];
    for (let number = 0; number < count; number++) await nats.js.publish(subject, large);
    await eventually(() => received === count, 'all messages');
    expect(follower.status()).toMatchObject({ snapshotPosition: null });
  });

  it('ends once its folded messages are stored if stopped early', async () => {
    const { nats, snapshots, publishLarge } = await prepareStream();
    await publishLarge(3);
    const fold: StreamFold = {
      ...stateless,
      receive: (batch) => {
        queueMicrotask(() => follower.stop({ graceMs: 3_600_000 }));
        return stateless.receive(batch);
      },
    };
    const follower = createTestFollower(nats, { fold, snapshots, sinks: emptySinks() });
    await follower.ended;
    const saved = await snapshots.list(stream);
    expect([saved.map(({ position }) => position), follower.wasCurrent]).toEqual([[1], false]);
  });

  it('notes a clean end once its last state is saved', async () => {
    const { nats, snapshots, publish } = await prepareStream();
    await publish(3);
    const ends: number[] = [];
    const unavailable = () => Promise.reject(new Error('ClickHouse does not answer'));
    const run = async (save: typeof snapshots.save, noteEnd = async () => undefined) => {
      const end = (position: number) => {
        ends.push(position);
        return noteEnd();
      };
      const sinks = { ...emptySinks(), end };
      const follower = createTestFollower(nats, {
        fold: stateless,
        snapshots: { ...snapshots, save },
        sinks,
      });
      await eventually(() => follower.wasCurrent && follower.status().position === 3, 'all messages');
      await follower.stop({ graceMs: 5_000 });
      await follower.ended;
    };
    await run(unavailable);
    expect(ends).toEqual([]);
    // It ends although its end cannot be noted.
    await run(snapshots.save, unavailable);
    expect(ends).toEqual([3]);
    // Nothing is folded or saved again, so the saved state is still that of its end.
    await run(snapshots.save);
    expect(ends).toEqual([3, 3]);
  });

  it('restores a replay only once its pipeline’s writes have ended', async () => {
    const { nats, snapshots, database, publish } = await prepareStream();
    const { writer } = await openWriter(database);
    const ends = new Map<string, () => void>();
    const hang = (what: string) => new Promise<never>((resolve) => ends.set(what, resolve as () => void));
    let hasReplay = false;
    let restored = 0;
    const follower = createTestFollower(nats, {
      fold: stateless,
      snapshots: { ...snapshots, save: () => hang('save') },
      sinks: { ...emptySinks(), writer: { ...writer, whenIdle: () => hang('insert') } },
      policy: { intervalMs: 600_000, messages: 1 },
      lineage: {
        chooseFrom: async () => {
          restored++;
          return () => true;
        },
        hasReplay: async () => hasReplay,
      },
    });
    await publish(1);
    await eventually(() => ends.has('save'), 'a save');
    await follower.takeReplay();
    expect(ends.has('insert')).toBe(false);
    hasReplay = true;
    await follower.takeReplay();
    await eventually(() => ends.has('insert'), 'a wait for the insert');
    ends.get('insert')?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(restored).toBe(1);
    ends.get('save')?.();
    await eventually(() => restored === 2, 'the restoration');
  });

  it('does not count messages as folded that its fold has refused', async () => {
    const { nats, snapshots, publish } = await prepareStream();
    const folded: number[] = [];
    const positions: number[] = [];
    const fold: StreamFold = {
      ...stateless,
      receive: ({ messages }) => {
        for (const { seq } of messages) {
          if (seq === 3 && positions.length === 1) throw new OlderSnapshotNeeded();
          folded.push(seq);
        }
        return { rows: noRows, rejections: [] };
      },
      beginRestore: () => ({
        add: () => undefined,
        complete: () => () => positions.push(follower.status().position),
      }),
    };
    const follower = createTestFollower(nats, { fold, snapshots, sinks: null });
    await publish(2);
    await eventually(() => follower.status().position === 2, 'two messages');
    await publish(1);
    await eventually(() => folded.length === 5 && follower.status().position === 3, 'all of them again');
    expect(folded).toEqual([1, 2, 1, 2, 3]);
    expect(positions).toEqual([0, 2]);
  });
});
