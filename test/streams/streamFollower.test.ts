import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { identifyFold } from '../../actors/foldIdentity.ts';
import { createEmpty } from '../../storage/generations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { noRows } from '../../storage/storedRows.ts';
import { resolveTables } from '../../storage/tables.ts';
import { OlderSnapshotNeeded, type StreamFold } from '../../streams/pipeline/streamFold.ts';
import { underWayBytesMax } from '../../streams/pipeline/streamPipeline.ts';
import { type ManualClock, manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { silentLogger } from '../support/silentLogger.ts';
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
  capture: () => ({ all: () => [], changes: null }),
  beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
};

async function prepareStream() {
  const { nats, database, tables } = await prepareToFollow();
  const snapshots = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  const publish = async (count: number) => {
    for (let number = 0; number < count; number++) await nats.js.publish(subject, `message ${number}`);
  };
  return { nats, snapshots, publish };
}

interface FollowerOptions {
  readonly clock?: ManualClock;
  readonly snapshotAgeMs?: number;
  readonly writes?: boolean;
}

type PreparedStream = Awaited<ReturnType<typeof prepareStream>>;

/** Follows through a position, with a fold that keeps the sequences it has seen since the restoration. */
async function followThrough(
  position: number,
  { nats, snapshots }: PreparedStream,
  { clock = manualClock(), snapshotAgeMs, writes = true }: FollowerOptions = {},
) {
  const seen = { restoredAt: null as number | null, sequences: [] as number[], removedAbove: [] as number[] };
  const fold: StreamFold = {
    ...stateless,
    ...(snapshotAgeMs !== undefined && { snapshotAgeMs }),
    receive: ({ messages }) => {
      for (const { seq } of messages) seen.sequences.push(seq);
      return { rows: noRows, rejections: [] };
    },
    beginRestore: () => ({
      add: () => undefined,
      complete: () => (position) => {
        seen.restoredAt = position;
        seen.sequences = [];
      },
    }),
  };
  const sinks = writes ? emptySinks(seen.removedAbove) : null;
  const follower = createTestFollower(nats, { fold, snapshots, sinks, clock });
  await eventually(
    () => seen.restoredAt !== null && follower.status().position === position,
    `position ${position}`,
  );
  return { seen, follower };
}

/** Follows through a position, and saves the state there. */
async function saveThrough(position: number, setup: PreparedStream, options?: FollowerOptions) {
  const { seen, follower } = await followThrough(position, setup, options);
  await follower.stop({ graceMs: 5_000 });
  return seen;
}

describe('a follower of a stream', () => {
  it('restores the snapshot of the highest position despite a wrong clock, and removes no rows', async () => {
    const setup = await prepareStream();
    const { snapshots, publish } = setup;
    const clock = manualClock(Date.UTC(2026, 0, 31, 12) + 3_600_000);
    await publish(10);
    await saveThrough(10, setup, { clock });
    // The clock was an hour ahead, and is put right.
    await publish(10);
    await saveThrough(20, setup, { clock: manualClock(Date.UTC(2026, 0, 31, 12)) });
    expect((await snapshots.list(stream)).map(({ position }) => position)).toEqual([20, 10]);
    await publish(5);
    const last = await followThrough(25, setup);
    expect(last.seen).toEqual({ restoredAt: 20, sequences: [21, 22, 23, 24, 25], removedAbove: [] });
  });

  it('that stores nothing reads more than may be under way', async () => {
    const setup = await prepareStream();
    await setup.publish(1);
    await saveThrough(1, setup);
    const [large, count] = ['x'.repeat(60_000), Math.ceil(underWayBytesMax / 60_000) + 1];
    for (let number = 0; number < count; number++) await setup.nats.js.publish(subject, large);
    const { seen } = await followThrough(1 + count, setup, { writes: false });
    expect(seen.sequences).toHaveLength(count);
  });

  it('notices lost messages by the newest snapshot, even if that is too young to be restored', async () => {
    const setup = await prepareStream();
    const { nats, publish, snapshots } = setup;
    const clock = manualClock();
    for (const position of [10, 20]) {
      await publish(10);
      await saveThrough(position, setup, { clock });
      if (position === 10) clock.advance(3_600_000);
    }
    await nats.jsm.streams.deleteMessage(stream, 20);
    await publish(1);
    const next = await followThrough(21, setup, { clock, snapshotAgeMs: 600_000 });
    expect(next.seen).toMatchObject({ restoredAt: 10, removedAbove: [10] });
    expect((await snapshots.list(stream)).map(({ position }) => position)).toEqual([10]);
    expect(next.follower.status().divergences).toBe(1);
  });

  it('has its stream recreated if it vanished before the state was restored', async () => {
    const { nats, snapshots, publish } = await prepareStream();
    await publish(5);
    const { config } = await nats.jsm.streams.info(stream);
    await nats.jsm.streams.delete(stream);
    const follower = createTestFollower(nats, {
      fold: stateless,
      snapshots,
      sinks: null,
      onMissing: async () => {
        await nats.jsm.streams.add(config);
      },
    });
    await eventually(() => follower.isCaughtUp, 'a stream to be followed');
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
    const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
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
