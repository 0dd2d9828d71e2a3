import { expect, it } from 'vitest';
import type { ReplayRequest } from '../../deploy/commands/replay/replayPlan.ts';
import { planReplay } from '../../deploy/commands/replay/replayPlan.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { type Lineage, noteLineage, openEnd, type VisibleRuns } from '../../storage/runs/lineages.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { missingDigest } from '../../streams/jetstream/proofs/streamPosition.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const identity = { foldVersion: 1, configuration: 'ours' };

const open = (run: string) => ({ run, through: openEnd });
const history: Lineage = {
  ...someLineage,
  ...identity,
  stream: 'MINER_COUNTER',
  streamCreated: 'then',
  epoch: 3,
  runs: [{ run: 'one', through: 8 }, open('run')],
};
/** What fills have noted, in order. */
const fills: readonly Partial<Lineage>[] = [
  // Of another version, and of another stream.
  { runs: [open('version')], foldVersion: 2 },
  { runs: [open('stream')], streamCreated: 'before' },
  // Has stored messages 8 to 15, and then continued in another run.
  { runs: [{ run: 'one', through: 7 }, open('first')], continuedRun: 'one' },
  { runs: [{ run: 'one', through: 7 }, { run: 'first', through: 15 }, open('second')], continuedRun: 'one' },
  // Has ended without use.
  { runs: [{ run: 'one', through: 6 }, open('dry')], continuedRun: 'one' },
  {
    runs: [
      { run: 'one', through: 6 },
      { run: 'dry', through: 20 },
    ],
    continuedRun: 'one',
  },
  // Is of a history that has lost its end.
  { runs: [{ run: 'zero', through: 5 }, open('lost')], continuedRun: 'zero' },
];

/** Readings through 20 are stored; only plans are made, so nothing changes. */
const stored = shareInFile(async () => {
  const opened = await openTables();
  const { database } = opened;
  const reading = (position: number) =>
    acceptedReading({ position, telemetryId: readingMessage('one', position).telemetryId });
  await storeRows(database, { readings: [reading(1)] }, 'one');
  await storeRows(database, { readings: [reading(10), reading(20)] }, 'run');
  await storeRows(database, { readings: [reading(29)] }, 'lost');
  await noteLineage(database, history, 0);
  for (const [at, fill] of fills.entries())
    await noteLineage(database, { ...history, cause: 'filling', ...fill }, at);
  return opened;
});

interface World {
  /** First and last sequence of the stream; message 19 was deleted by hand. */
  readonly held?: readonly [number, number];
  readonly snapshots?: readonly number[];
  /** Position of a snapshot whose message is another one now. */
  readonly lost?: number;
  /** Position of a snapshot whose rows do not count. */
  readonly uncounted?: number;
  /** When the stream was created. */
  readonly created?: string;
  /** By default the one with readings. */
  readonly database?: Database;
  /** Changes of the replaying program since the rows were made. */
  readonly own?: Partial<typeof identity>;
}

const storedAtMs = Date.UTC(2026, 0, 31);

/** Plans a replay of a stream that has stored a message each second. */
async function plan(
  request: Partial<ReplayRequest>,
  { held = [1, 30], snapshots = [], lost, uncounted, created = 'then', own, ...world }: World = {},
) {
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
  const consumerFrom = (seq: number) => ({
    info: async () => ({ num_pending: Math.max(0, last_seq - seq + 1) }),
    next: async () => ({ seq: Math.max(seq, first_seq) }),
    delete: async () => true,
  });
  const parts = {
    database,
    jsm: {
      streams: {
        info: async () => ({
          created,
          config: { num_replicas: 1 },
          state: { messages: last_seq - first_seq + 1, first_seq, last_seq, first_ts: 'first time' },
        }),
        getMessage: async (_: string, { seq }: { seq: number }) =>
          seq < first_seq || seq > last_seq || seq === 19
            ? null
            : {
                subject: 'miner.counter.one',
                data: Buffer.from(JSON.stringify(readingMessage('one', seq))),
                timestamp: '2026-01-31T00:00:00Z',
              },
      },
    },
    js: {
      consumers: {
        get: async (_: string, { opt_start_time }: { opt_start_time: string }) =>
          consumerFrom(Math.ceil((Date.parse(opt_start_time) - storedAtMs) / 1_000)),
      },
    },
    snapshots: {
      // The highest first, after one of another fold.
      list: async () => [
        header(12, { foldVersion: 2 }),
        ...snapshots.map((position) => header(position, position === lost ? { digest: missingDigest } : {})),
      ],
    },
    identity: { ...identity, ...own },
    nowMs: () => 0,
  } as unknown as Parameters<typeof planReplay>[0];
  const full = {
    from: { sequence: 1 },
    to: null,
    dryRun: false,
    isIncomplete: false,
    ...request,
  };
  return planReplay(parts, full);
}

const from = (sequence: number) => ({ from: { sequence } });
const at = (second: number) => ({ time: new Date(storedAtMs + second * 1_000) });

it.each<[string, Partial<ReplayRequest>, World, unknown]>([
  ['all that is stored', from(1), {}, [1, 20, null, null]],
  ['all that is folded, the last messages without rows', from(1), { snapshots: [25] }, [1, 25, null, null]],
  ['from a snapshot below', from(8), { snapshots: [8, 7, 3] }, [8, 20, 7, null]],
  ['from one right below', from(8), { held: [4, 30], snapshots: [9, 6, 3] }, [8, 20, 6, null]],
  ['from one that agrees with the stream', from(8), { snapshots: [7, 3], lost: 7 }, [8, 20, 3, null]],
  ['from one whose rows count', from(8), { snapshots: [7, 3], uncounted: 7 }, [8, 20, 3, null]],
  ['to a sequence', { ...from(2), to: { sequence: 2 } }, {}, [2, 2, null, null]],
  ['to a message that is left', { ...from(2), to: { sequence: 19 } }, {}, [2, 18, null, null]],
  ['between two times', { from: at(5), to: at(8) }, {}, [5, 8, null, null]],
  ['to a time after the end', { from: at(4.5), to: at(99) }, {}, [5, 20, null, null]],
  [
    'of a stream whose first messages are gone, after a snapshot',
    from(8),
    { held: [8, 30], snapshots: [7] },
    [8, 20, 7, null],
  ],
  [
    'of what is left',
    { ...from(3), isIncomplete: true },
    { held: [8, 30], snapshots: [7] },
    [8, 20, 7, expect.stringContaining('Messages 3 to 7 cannot be rebuilt')],
  ],
])('a replay is planned: %s', async (_what, request, world, expected) => {
  const { plan: made, notRebuilt } = await plan(request, world);
  expect([made.fromSequence, made.throughSequence, made.basePosition, notRebuilt]).toEqual(expected);
});

it.each<[string, Partial<ReplayRequest>, World, string]>([
  ['an empty stream', from(1), { held: [31, 30] }, 'MINER_COUNTER holds no messages'],
  ['a beginning above the stream', from(31), {}, 'MINER_COUNTER ends at 30, so a replay cannot begin at 31'],
  ['a beginning above the stored rows', from(22), {}, 'may begin at 21 or below, not at 22'],
  [
    'a beginning right after the stored rows',
    from(21),
    {},
    'nothing lies between 21 and 20; MINER_COUNTER holds 1 to 30',
  ],
  [
    'a time after the last message',
    { from: at(31) },
    {},
    'has stored nothing since 2026-01-31T00:00:31.000Z',
  ],
  ['an end before the beginning', { ...from(5), to: { sequence: 4 } }, {}, 'nothing lies between 5 and 4'],
  ['rows of another version', from(8), { own: { foldVersion: 3 } }, 'made with another version'],
  ['rows of another deployment', from(8), { own: { configuration: 'theirs' } }, 'made with another version'],
  ['rows of another stream', from(8), { created: 'now' }, 'has lost messages whose rows are stored'],
  [
    'rows of messages that the stream has lost',
    from(8),
    { held: [1, 19] },
    'lost messages whose rows are stored',
  ],
  [
    'messages that are gone',
    from(3),
    { held: [8, 30], snapshots: [9, 7] },
    'The oldest snapshot that it continues is at message 7: begin at 8 or above, or --incomplete',
  ],
  [
    'a gap after the only snapshot',
    from(8),
    { held: [8, 30], snapshots: [6] },
    'No snapshot continues there',
  ],
])('a replay is refused: %s', async (_what, request, world, expected) => {
  await expect(plan(request, world)).rejects.toThrow(expected);
});

it('a replay is refused before the service has stored anything', async () => {
  const database = { select: async () => [] } as unknown as Database;
  await expect(plan(from(1), { database })).rejects.toThrow('ClickHouse holds no readings yet');
});

it.each<[string, Partial<ReplayRequest>, World, VisibleRuns, string, boolean]>([
  [
    'what counts through its base',
    from(11),
    { snapshots: [10] },
    [
      { run: 'one', through: 8 },
      { run: 'run', through: 10 },
    ],
    'run',
    false,
  ],
  [
    'what a stopped one has begun after the same base',
    from(8),
    { snapshots: [7] },
    [
      { run: 'one', through: 7 },
      { run: 'first', through: 15 },
      { run: 'second', through: 20 },
    ],
    'one',
    true,
  ],
  [
    'no more of that than it is asked for',
    { ...from(8), to: { sequence: 12 } },
    { snapshots: [7] },
    [
      { run: 'one', through: 7 },
      { run: 'first', through: 12 },
    ],
    'one',
    true,
  ],
  [
    'nothing if it only compares: the stopped one may still run',
    { ...from(8), dryRun: true },
    { snapshots: [7] },
    [{ run: 'one', through: 7 }],
    'one',
    false,
  ],
  ['nothing of one that has ended', from(7), { snapshots: [6] }, [{ run: 'one', through: 6 }], 'one', false],
  [
    'nothing of a history that counts no longer',
    from(6),
    { snapshots: [5] },
    [{ run: 'one', through: 5 }],
    'one',
    false,
  ],
  ['nothing from the beginning of the stream', from(5), {}, [], '', false],
])('a replay continues %s', async (_what, request, world, runs, continuedRun, isResumed) => {
  const { plan: made } = await plan(request, world);
  // Ordered behind every earlier one of the history that counts now.
  expect(made).toMatchObject({
    isResumed,
    from: { runs, continuedRun, epoch: history.epoch, cause: history.cause },
  });
});
