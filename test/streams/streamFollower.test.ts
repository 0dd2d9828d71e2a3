import { type Logger, pino } from 'pino';
import { NEVER, Subject } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identifyFold } from '../../actors/foldIdentity.ts';
import { RecordRefused } from '../../actors/foldRecord.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { noRows } from '../../storage/storedRows.ts';
import { formatSnapshotName } from '../../storage/tables/foldSnapshot.ts';
import type { FollowerSinks } from '../../streams/follower/streamFollower.ts';
import { ensureStreams } from '../../streams/jetstream/ensureStreams.ts';
import { createMessageSource } from '../../streams/jetstream/source/messageSource.ts';
import { OlderSnapshotNeeded, type StreamFold } from '../../streams/pipeline/streamFold.ts';
import { type ManualClock, manualClock } from '../support/manualClock.ts';
import { eventually } from '../support/processes/childProcess.ts';
import type { TestConnection } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import {
  createTestFollower,
  emptySinks,
  prepareToFollow,
  followedStream as stream,
} from '../support/streams/testFollower.ts';

const subject = 'miner.counter.wheel';
const sourceOptions = (nats: TestConnection) =>
  ({ ...nats, stream, clock: manualClock(), logger: silentLogger }) as const;

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
  readonly settings?: Record<string, string>;
  readonly snapshotAgeMs?: number;
  readonly writes?: boolean;
  /** Kind of the captured record; only `state` can be restored. */
  readonly captures?: string;
  readonly logger?: Logger;
}

/** Follows with a fold that keeps the sequences it has seen since the restoration. */
function startFollower(
  { nats, snapshots }: Awaited<ReturnType<typeof prepareStream>>,
  options: FollowerOptions = {},
) {
  const { clock = manualClock(), settings = {}, snapshotAgeMs, writes = true } = options;
  const { captures = 'state', logger = silentLogger } = options;
  const seen = { restoredAt: null as number | null, sequences: [] as number[], removedAbove: [] as number[] };
  const fold: StreamFold = {
    identity: identifyFold(1, settings),
    sharesTables: true,
    ...(snapshotAgeMs !== undefined && { snapshotAgeMs }),
    receive: ({ messages }) => {
      for (const { seq } of messages) seen.sequences.push(seq);
      return { rows: noRows, rejections: [] };
    },
    capture: () => ({ all: () => [{ kind: captures, key: '', value: '{}' }], changes: null }),
    beginRestore: () => ({
      add: ({ kind }) => {
        if (kind !== 'state') throw new RecordRefused(`${kind} is no kind of record of this fold`);
      },
      complete: () => (position) => {
        seen.restoredAt = position;
        seen.sequences = [];
      },
    }),
  };
  const sinks = writes ? emptySinks(seen.removedAbove) : null;
  const follower = createTestFollower(nats, { fold, snapshots, sinks, clock, logger });
  const running = follower.ended;
  onTestFinished(async () => {
    await follower.stop({ graceMs: 5_000 });
    await running;
  });
  const waitUntilFolded = (position: number) =>
    eventually(
      () => seen.restoredAt !== null && follower.status().position === position,
      `position ${position}`,
    );
  return { seen, follower, waitUntilFolded, end: () => follower.stop({ graceMs: 5_000 }) };
}

/** A fold without output. */
const stateless: StreamFold = {
  identity: identifyFold(1, {}),
  receive: () => ({ rows: noRows, rejections: [] }),
  capture: () => ({ all: () => [], changes: null }),
  beginRestore: () => ({ add: () => undefined, complete: () => () => undefined }),
};

describe('a follower of a stream', () => {
  it('restores the snapshot of the highest position despite a wrong clock, and removes no rows', async () => {
    const setup = await prepareStream();
    const { snapshots, publish } = setup;
    const clock = manualClock(Date.UTC(2026, 0, 31, 12) + 3_600_000);
    await publish(10);
    const ahead = startFollower(setup, { clock });
    await ahead.waitUntilFolded(10);
    await ahead.end();
    // The clock was an hour ahead, and is put right.
    await publish(10);
    const right = startFollower(setup, { clock: manualClock(Date.UTC(2026, 0, 31, 12)) });
    await right.waitUntilFolded(20);
    await right.end();
    expect((await snapshots.list(stream)).map(({ position }) => position)).toEqual([20, 10]);
    await publish(5);
    const last = startFollower(setup);
    await last.waitUntilFolded(25);
    expect(last.seen).toEqual({ restoredAt: 20, sequences: [21, 22, 23, 24, 25], removedAbove: [] });
  });

  it('prefers a snapshot that the stream continues, whatever its age', async () => {
    const setup = await prepareStream();
    const { nats, publish } = setup;
    const clock = manualClock();
    await publish(10);
    const first = startFollower(setup, { clock });
    await first.waitUntilFolded(10);
    await first.end();
    clock.advance(3_600_000);
    await publish(10);
    const second = startFollower(setup, { clock });
    await second.waitUntilFolded(20);
    await second.end();
    const old = startFollower(setup, { clock, snapshotAgeMs: 600_000, writes: false });
    await old.waitUntilFolded(20);
    expect(old.seen.restoredAt).toBe(10);
    await old.end();
    await nats.jsm.streams.purge(stream, { seq: 16 });
    const young = startFollower(setup, { clock, snapshotAgeMs: 600_000 });
    await young.waitUntilFolded(20);
    expect(young.seen).toEqual({ restoredAt: 20, sequences: [], removedAbove: [] });
  });

  it('notices lost messages by the newest snapshot, even if that is too young to be restored', async () => {
    const setup = await prepareStream();
    const { nats, publish, snapshots } = setup;
    const clock = manualClock();
    for (const position of [10, 20]) {
      await publish(10);
      const saving = startFollower(setup, { clock });
      await saving.waitUntilFolded(position);
      await saving.end();
      if (position === 10) clock.advance(3_600_000);
    }
    await nats.jsm.streams.deleteMessage(stream, 20);
    await publish(1);
    const next = startFollower(setup, { clock, snapshotAgeMs: 600_000 });
    await next.waitUntilFolded(21);
    expect(next.seen).toMatchObject({ restoredAt: 10, removedAbove: [10] });
    expect((await snapshots.list(stream)).map(({ position }) => position)).toEqual([10]);
    expect(next.follower.status().divergences).toBe(1);
  });

  it('restores an older snapshot if its fold refuses the newest, and logs which', async () => {
    const setup = await prepareStream();
    const { publish, snapshots } = setup;
    await publish(10);
    const sound = startFollower(setup);
    await sound.waitUntilFolded(10);
    await sound.end();
    await publish(10);
    const faulty = startFollower(setup, { captures: 'another' });
    await faulty.waitUntilFolded(20);
    await faulty.end();
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) });
    const restored = startFollower(setup, { logger });
    await restored.waitUntilFolded(20);
    expect(restored.seen).toMatchObject({ restoredAt: 10, removedAbove: [] });
    const [refused] = (await snapshots.list(stream)).map(formatSnapshotName);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        snapshot: refused,
        position: 20,
        err: { message: 'another is no kind of record of this fold' },
        msg: 'snapshot is damaged or refused; an older one is used',
      },
    ]);
  });

  it('ignores snapshots of another deployment, and removes its rows', async () => {
    const setup = await prepareStream();
    await setup.publish(10);
    const one = startFollower(setup, { settings: { core: '0x01' } });
    await one.waitUntilFolded(10);
    await one.end();
    const other = startFollower(setup, { settings: { core: '0x02' } });
    await other.waitUntilFolded(10);
    expect(other.seen).toMatchObject({ restoredAt: 0, removedAbove: [0] });
    await other.end();
    // After a change back, its own rows and snapshots are gone too.
    const back = startFollower(setup, { settings: { core: '0x01' } });
    await back.waitUntilFolded(10);
    expect(back.seen).toMatchObject({ restoredAt: 0, removedAbove: [0] });
  });

  it('removes the rows of messages that the stream has lost', async () => {
    const setup = await prepareStream();
    const { nats, publish } = setup;
    await publish(10);
    const one = startFollower(setup);
    await one.waitUntilFolded(10);
    await one.end();
    await nats.jsm.streams.delete(stream);
    await ensureStreams(nats.jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
    await publish(4);
    const other = startFollower(setup);
    await other.waitUntilFolded(4);
    expect(other.seen).toEqual({ restoredAt: 0, sequences: [1, 2, 3, 4], removedAbove: [0] });
  });

  it('keeps rows whose messages retention has removed, even without a snapshot to restore', async () => {
    const setup = await prepareStream();
    const { nats, publish } = setup;
    await publish(10);
    const one = startFollower(setup);
    await one.waitUntilFolded(10);
    await one.end();
    await nats.jsm.streams.purge(stream, { seq: 7 });
    await nats.jsm.streams.deleteMessage(stream, 10);
    await publish(1);
    const other = startFollower(setup);
    await other.waitUntilFolded(11);
    expect(other.seen).toEqual({ restoredAt: 0, sequences: [7, 8, 9, 11], removedAbove: [6] });
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
    onTestFinished(async () => {
      await follower.stop({ graceMs: 0 });
      await follower.ended;
    });
    await eventually(() => follower.isCaughtUp, 'a stream to be followed');
  });

  it('is caught up with the stream, even if it has lost its end since the start', async () => {
    const { nats, snapshots, publish } = await prepareStream();
    await publish(5);
    const ends$ = new Subject<number>();
    const status = { ...createMessageSource(sourceOptions(nats)).status(), position: 3 };
    const follower = createTestFollower(nats, {
      fold: stateless,
      snapshots,
      sinks: null,
      source: { batchesAfter: () => NEVER, ends$, status: () => status },
    });
    onTestFinished(async () => {
      await follower.stop({ graceMs: 0 });
      await follower.ended;
    });
    await eventually(() => follower.isRestored, 'the state to be restored');
    expect(follower.isCaughtUp).toBe(false);
    ends$.next(3);
    expect(follower.isCaughtUp).toBe(true);
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
    onTestFinished(async () => {
      await follower.stop({ graceMs: 0 });
      await follower.ended;
    });
    await publish(2);
    await eventually(() => follower.status().position === 2, 'two messages');
    await publish(1);
    await eventually(() => folded.length === 5 && follower.status().position === 3, 'all of them again');
    expect(folded).toEqual([1, 2, 1, 2, 3]);
    expect(positions).toEqual([0, 2]);
  });

  it('keeps no snapshot above the one that its fold rewinds to', async () => {
    const { nats, snapshots, publish } = await prepareStream();
    let count = 0;
    let countMax = Number.MAX_SAFE_INTEGER;
    const fold: StreamFold = {
      ...stateless,
      receive: ({ messages }) => {
        for (const { seq } of messages) {
          if (seq === 4 && countMax > 2) {
            countMax = 2;
            throw new OlderSnapshotNeeded();
          }
          count++;
        }
        return { rows: noRows, rejections: [] };
      },
      capture: () => ({
        all: () => [{ kind: 'count', key: '', value: String(count) }],
        changes: null,
      }),
      beginRestore: () => {
        let restored = 0;
        return {
          add: ({ value }) => {
            restored = Number(value);
          },
          accepts: () => restored <= countMax,
          complete: () => () => {
            count = restored;
          },
        };
      },
    };
    const listPositions = async () => (await snapshots.list(stream)).map(({ position }) => position).sort();
    const seen: number[][] = [];
    const sinks: FollowerSinks = {
      ...emptySinks(),
      removeAbove: async (position, deleteSnapshots) => {
        seen.push([position], await listPositions());
        await deleteSnapshots();
        seen.push(await listPositions());
      },
    };
    const policy = { intervalMs: 600_000, messages: 1 };
    const follower = createTestFollower(nats, { fold, snapshots, sinks, policy });
    onTestFinished(async () => {
      await follower.stop({ graceMs: 0 });
      await follower.ended;
    });
    for (let position = 1; position <= 3; position++) {
      await publish(1);
      await eventually(() => follower.status().snapshotPosition === position, `the state of ${position}`);
    }
    await publish(1);
    await eventually(() => count === 4, 'the fold to have rewound');
    expect(seen).toEqual([[2], [1, 2, 3], [1, 2]]);
  });
});
