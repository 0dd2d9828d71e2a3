import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { identifyFold } from '../../actors/foldIdentity.ts';
import { createEmpty } from '../../storage/generations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { noRows } from '../../storage/storedRows.ts';
import { resolveTables } from '../../storage/tables.ts';
import { batchBytesMax } from '../../streams/jetstream/source/messageBatch.ts';
import { OlderSnapshotNeeded, type StreamFold } from '../../streams/pipeline/streamFold.ts';
import { underWayBytesMax } from '../../streams/pipeline/streamPipeline.ts';
import { eventually } from '../support/processes/childProcess.ts';
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
  const { nats, database, tables } = await prepareToFollow();
  const snapshots = createSnapshotStore({ database, tables: () => tables });
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
  it('that stores nothing reads more than may be under way', async () => {
    const { nats, snapshots, created } = await prepareStream();
    const place = { streamCreated: await created(), position: 0, digest: null };
    await snapshots.save({ ...stateless.identity, ...place, stream, run: '', takenAtMs: 1 }, []);
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
    expect(follower.status()).toMatchObject({ snapshotPosition: null, snapshotTakenAtMs: null });
  });

  it('that is stopped before it has caught up ends once what it has folded is stored', async () => {
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
    expect([saved.map(({ position }) => position), follower.isCaughtUp]).toEqual([[1], false]);
  });

  it('reports a saved state only once everything is folded', async () => {
    const { nats, snapshots, publishLarge } = await prepareStream();
    await publishLarge(3);
    const reported: number[] = [];
    const follower = createTestFollower(nats, {
      fold: stateless,
      // It answers before the next message is read.
      snapshots: { ...snapshots, save: async () => 0 },
      sinks: emptySinks(),
      policy: { intervalMs: 600_000, messages: 1 },
      onCurrentSaved: () => reported.push(follower.status().position),
    });
    await eventually(() => reported.length > 0, 'a report');
    expect(new Set(reported)).toEqual(new Set([3]));
  });

  it('uses other tables only once the last insert and save of its pipeline have ended', async () => {
    const { nats, snapshots, database, publish } = await prepareStream();
    const { writer } = await openWriter(database);
    const ends = new Map<string, () => void>();
    const hang = (what: string) => new Promise<never>((resolve) => ends.set(what, resolve as () => void));
    const used: number[] = [];
    const follower = createTestFollower(nats, {
      fold: stateless,
      snapshots: { ...snapshots, save: () => hang('save') },
      sinks: { ...emptySinks(), writer: { ...writer, whenIdle: () => hang('insert') } },
      policy: { intervalMs: 600_000, messages: 1 },
      useGeneration: (generation) => used.push(generation),
    });
    await publish(1);
    await eventually(() => ends.has('save'), 'a save');
    follower.restoreFrom(2);
    await eventually(() => ends.has('insert'), 'a wait for the insert');
    ends.get('insert')?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(used).toEqual([]);
    ends.get('save')?.();
    await eventually(() => used.length === 1, 'the other tables');
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

  it('saves nothing of the previous tables if it is stopped while it restores from replaced ones', async () => {
    const prepared = await prepareToFollow();
    const { nats, database } = prepared;
    let { tables } = prepared;
    const store = createSnapshotStore({ database, tables: () => tables });
    /** Set while ClickHouse does not answer the request for snapshots. */
    let restoring: Promise<void> | null = null;
    let stored: number[] = [];
    let restoredAt: number | null = null;
    const fold: StreamFold = {
      ...stateless,
      // Rows are stored at once in the tables that are active.
      receive: ({ messages }) => {
        for (const { seq } of messages) stored.push(seq);
        return { rows: noRows, rejections: [] };
      },
      beginRestore: () => ({
        add: () => undefined,
        complete: () => (position) => {
          restoredAt = position;
        },
      }),
    };
    const follower = createTestFollower(nats, {
      fold,
      snapshots: {
        ...store,
        list: async (asked) => {
          await restoring;
          return store.list(asked);
        },
      },
      sinks: emptySinks(),
      useGeneration: () => {
        tables = replayed;
        stored = [1, 2, 3, 4, 5];
      },
    });
    const running = follower.ended;
    for (let number = 0; number < 10; number++) await nats.js.publish(subject, `${number}`);
    await eventually(() => restoredAt !== null && follower.status().position === 10, 'ten messages');

    // A replay through message 5 ends: its tables hold the rows of 1 to 5 and become the active ones.
    const replayed = resolveTables(2);
    await createEmpty(database, replayed);
    let answer: () => void = () => undefined;
    restoring = new Promise((resolve) => {
      answer = resolve;
    });
    follower.restoreFrom(replayed.generation);
    await eventually(() => tables.generation === 2, 'the replaced tables');
    await follower.stop({ graceMs: 5_000 });
    const saved = (await store.list(stream)).map(({ position }) => position);
    answer();
    // The request is answered only now, when the follower has been stopped.
    const isEnded = await Promise.race([running.then(() => true), sleep(5_000).then(() => false)]);
    // Only the previous tables hold the rows of 6 to 10: a snapshot of 10 would omit them for good.
    expect({ saved, stored: stored.length, isEnded }).toEqual({ saved: [], stored: 5, isEnded: true });
  });
});
