import { expect, it } from 'vitest';
import type { ReplayRequest } from '../../deploy/commands/replay/replayPlan.ts';
import { planReplay } from '../../deploy/commands/replay/replayPlan.ts';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { createReplayLog } from '../../storage/replayLog.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';
import { missingDigest } from '../../streams/jetstream/streamPosition.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { openTables } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const identity = { foldVersion: 1, configuration: 'ours' };

/** Readings through 20 are stored; only plans are made, so nothing changes. */
const stored = shareInFile(async () => {
  const opened = await openTables();
  const readings = [1, 10, 20].map((position) =>
    acceptedReading({ position, telemetryId: readingMessage('one', position).telemetryId }),
  );
  await storeRows(opened.database, opened.tables, { readings });
  await noteGeneration(opened.database, { ...identity, streamCreated: 'then', generation: 1, atMs: 0 });
  return opened;
});

interface World {
  /** First and last sequence of the stream; message 19 was deleted by hand. */
  readonly held?: readonly [number, number];
  readonly snapshots?: readonly number[];
  /** Position of a snapshot whose message is another one now. */
  readonly lost?: number;
  /** Changes of the replaying program since the rows were made. */
  readonly own?: Partial<typeof identity>;
}

const storedAtMs = Date.UTC(2026, 0, 31);

/** Plans a replay of a stream that has stored a message each second. */
async function plan(
  request: Partial<ReplayRequest>,
  { held = [1, 30], snapshots = [], lost, own }: World = {},
) {
  const { database, tables } = await stored();
  const [first_seq, last_seq] = held;
  const header = (position: number, change: object = {}) =>
    ({
      ...identity,
      stream: 'MINER_COUNTER',
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
    tables,
    jsm: {
      streams: {
        info: async () => ({
          created: 'then',
          config: {},
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
    log: createReplayLog(database, () => 0),
    nowMs: () => 0,
  } as unknown as Parameters<typeof planReplay>[0];
  const full = {
    from: { sequence: 1 },
    to: null,
    installationId: null,
    dryRun: false,
    isIncomplete: false,
    ...request,
  };
  try {
    const { plan: made, notRebuilt } = await planReplay(parts, full);
    return [made.fromSequence, made.throughSequence, made.basePosition, notRebuilt];
  } catch (error) {
    return (error as Error).message;
  }
}

const from = (sequence: number) => ({ from: { sequence } });
const at = (second: number) => ({ time: new Date(storedAtMs + second * 1_000) });

it.each<[string, Partial<ReplayRequest>, World, unknown]>([
  ['all that is stored', from(1), {}, [1, 20, null, null]],
  ['all that is folded, the last messages without rows', from(1), { snapshots: [25] }, [1, 25, null, null]],
  ['from a snapshot below', from(8), { snapshots: [8, 7, 3] }, [8, 20, 7, null]],
  ['from one right below', from(8), { held: [4, 30], snapshots: [9, 6, 3] }, [8, 20, 6, null]],
  ['from one that agrees with the stream', from(8), { snapshots: [7, 3], lost: 7 }, [8, 20, 3, null]],
  ['to a sequence', { ...from(2), to: { sequence: 2 } }, {}, [2, 2, null, null]],
  ['to a message that is left', { ...from(2), to: { sequence: 19 } }, {}, [2, 18, null, null]],
  ['between two times', { from: at(5), to: at(8) }, {}, [5, 8, null, null]],
  ['to a time after the end', { from: at(4.5), to: at(99) }, {}, [5, 20, null, null]],
  [
    'of one installation to a snapshot of the others',
    { ...from(4), installationId: 'one' },
    { snapshots: [20, 15] },
    [4, 20, null, null],
  ],
  [
    'of one installation to an earlier one',
    { ...from(4), installationId: 'one', to: { sequence: 19 } },
    { snapshots: [20, 15] },
    [4, 15, null, null],
  ],
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
  expect(await plan(request, world)).toEqual(expected);
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
  [
    'one installation without a snapshot',
    { ...from(4), installationId: 'one' },
    {},
    'at or below 20, and there is none',
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
  expect(await plan(request, world)).toContain(expected);
});
