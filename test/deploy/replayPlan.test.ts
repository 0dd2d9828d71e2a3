import { expect, it } from 'vitest';
import { planReplay, type ReplayStart } from '../../deploy/commands/replay/replayPlan.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { type Lineage, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { missingDigest } from '../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const stream = 'MINER_COUNTER';
const identity = { foldVersion: 1, configuration: 'ours' };

const lineage: Lineage = {
  ...someLineage,
  ...identity,
  stream,
  streamCreated: 'then',
  epoch: 3,
  runs: [
    { run: 'one', through: 8 },
    { run: 'run', through: openEnd },
  ],
};

/** Only plans are made, so nothing changes. */
const stored = shareInFile(async () => {
  const opened = await openTables();
  await noteLineage(opened.database, lineage, 0);
  return opened;
});

interface World {
  /** First and last sequence of the stream. */
  readonly held?: readonly [number, number];
  readonly snapshots?: readonly number[];
  /** Position of a snapshot whose message is another one now. */
  readonly lost?: number;
  /** Position of a snapshot whose rows do not count. */
  readonly uncounted?: number;
  /** When the stream was created. */
  readonly created?: string;
  /** By default the one with a lineage. */
  readonly database?: Database;
  /** Changes of the replaying program since the rows were made. */
  readonly own?: Partial<typeof identity>;
}

const storedAtMs = Date.UTC(2026, 0, 31);

/** Plans a replay of a stream that has stored a message each second. */
async function plan(from: ReplayStart, world: World = {}) {
  const { held = [1, 30], snapshots = [20], lost, uncounted, created = 'then', own } = world;
  const { database = (await stored()).database } = world;
  const [first_seq, last_seq] = held;
  const header = (position: number, change: object = {}) =>
    ({
      ...identity,
      stream: 'MINER_COUNTER',
      run: position === uncounted ? 'lost' : position <= 8 ? 'one' : 'run',
      streamCreated: 'then',
      position,
      digest: null,
      takenAtMs: 0,
      ...change,
    }) as StoredSnapshotHeader;
  const jetStream = {
    info: async () => streamInfo({ created, firstSequence: first_seq, lastSequence: last_seq }),
    message: async (_: string, seq: number) => ({
      seq,
      subject: 'miner.counter.one',
      data: Buffer.from(JSON.stringify(readingMessage('one', seq))),
      timestampNanos: 0n,
    }),
    firstSince: async (_: string, time: Date) => {
      const seq = Math.max(first_seq, Math.ceil((time.getTime() - storedAtMs) / 1_000));
      return seq > last_seq ? null : seq;
    },
  };
  const parts = {
    database,
    jetStream,
    snapshots: {
      // The highest first, after one of another fold.
      list: async () => [
        header(25, { foldVersion: 2 }),
        ...snapshots.map((position) => header(position, position === lost ? { digest: missingDigest } : {})),
      ],
    },
    stream,
    identity: { ...identity, ...own },
    verifier: createStreamVerifier({ jetStream, stream, clock: systemClock }),
  } as unknown as Parameters<typeof planReplay>[0];
  return planReplay(parts, from);
}

const first = { sequence: 1 };
const at = (second: number) => ({ time: new Date(storedAtMs + second * 1_000) });

it.each<[string, ReplayStart, World, readonly [after: number, through: number]]>([
  ['through the newest saved state', first, { snapshots: [25, 7] }, [0, 25]],
  ['through the newest one whose rows count', first, { snapshots: [25, 20], uncounted: 25 }, [0, 20]],
  ['from a state below', { sequence: 8 }, { snapshots: [20, 8, 7, 3] }, [7, 20]],
  ['from a state whose rows count', { sequence: 8 }, { snapshots: [20, 7, 3], uncounted: 7 }, [3, 20]],
  ['from the beginning without a state below', { sequence: 8 }, { snapshots: [20, 8] }, [0, 20]],
  ['from the last message', { sequence: 20 }, { snapshots: [20, 19] }, [19, 20]],
  ['from a time', at(7.5), { snapshots: [20, 8, 7] }, [7, 20]],
  [
    'from a state that a cut stream continues',
    { sequence: 8 },
    { held: [8, 30], snapshots: [20, 7] },
    [7, 20],
  ],
  ['from the oldest such state', first, { held: [8, 30], snapshots: [20, 12, 9, 7, 6] }, [7, 20]],
])('a replay is planned: %s', async (_what, from, world, [after, through]) => {
  const made = await plan(from, world);
  expect([made.after, made.newest.position, made.lineage.runs]).toEqual([after, through, lineage.runs]);
});

it.each<[string, ReplayStart, World, string]>([
  [
    'a beginning above the newest state',
    { sequence: 21 },
    {},
    'saved at message 20: a replay begins there or',
  ],
  ['a time after the last message', at(31), {}, 'has stored nothing since 2026-01-31T00:00:31.000Z'],
  ['rows of another version', first, { own: { foldVersion: 3 } }, 'made with another version'],
  ['rows of another deployment', first, { own: { configuration: 'theirs' } }, 'made with another version'],
  ['rows of another stream', first, { created: 'now' }, 'has lost messages whose rows are stored'],
  ['a stream that has lost its end', first, { held: [1, 19] }, 'has lost messages whose rows are stored'],
  ['a newest state of another message', first, { lost: 20 }, 'has lost messages whose rows are stored'],
  ['no saved state', first, { snapshots: [] }, 'no state is saved yet'],
  [
    'messages that are gone before the only state',
    first,
    { held: [8, 30], snapshots: [20, 6] },
    'messages through 7 have left the stream, and no earlier state is saved',
  ],
  ['only the first message is gone', first, { held: [2, 30] }, 'messages through 1 have left the stream'],
  [
    'a gap after all states',
    first,
    { held: [28, 30], snapshots: [20, 6] },
    'messages through 27 have left the stream, and no earlier state is saved',
  ],
])('a replay is refused: %s', async (_what, from, world, expected) => {
  await expect(plan(from, world)).rejects.toThrow(expected);
});

it('a replay is refused before the service has stored anything', async () => {
  const database = { select: async () => [] } as unknown as Database;
  await expect(plan(first, { database })).rejects.toThrow('no state is saved yet');
});
