import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { describe, expect, it } from 'vitest';
import { identifyFold } from '../../actors/foldIdentity.ts';
import type { FoldRecord } from '../../actors/foldRecord.ts';
import type { Database } from '../../storage/database.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { noRows } from '../../storage/storedRows.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { createRecords } from '../support/increments.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { createTestFollower, emptySinks, prepareToFollow } from '../support/streams/testFollower.ts';

/** Messages between two saves: first the whole state, then increments. */
const saves = [3, 6, 9, 12];
/** Incompressible, and larger than the chunks that one statement reads. */
const large = randomBytes(1_800_000).toString('base64');

/** Counts messages by the last digit of their sequence. */
function createCountingFold() {
  const counts = new Map<string, number>();
  let changed = new Set<string>();
  const seen = { restoredAt: null as number | null, sequences: [] as number[] };
  const toRecord = (key: string): FoldRecord => ({ kind: 'count', key, value: String(counts.get(key) ?? 0) });
  const fold: StreamFold = {
    identity: identifyFold(1, {}),
    receive: ({ messages }) => {
      for (const { seq } of messages) {
        const key = String(seq % 10);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        changed.add(key);
        seen.sequences.push(seq);
      }
      return { rows: noRows, rejections: [] };
    },
    capture: () => {
      const [all, changes] = [[...counts.keys()].map(toRecord), [...changed].map(toRecord)];
      changed = new Set();
      return {
        all: () => [{ kind: 'large', key: '', value: JSON.stringify(large) }, ...all],
        changes: () => changes,
      };
    },
    beginRestore: () => {
      const records = createRecords();
      return {
        add: (record) => records.apply([record]),
        complete: () => (position) => {
          counts.clear();
          for (const [name, value] of records.sorted())
            if (name.startsWith('count ')) counts.set(name.slice(-1), Number(value));
          changed = new Set();
          Object.assign(seen, { restoredAt: position, sequences: [] });
        },
      };
    },
  };
  return { fold, seen, state: () => [...counts].sort() };
}

/** A stream of twelve messages, and a snapshot of it with three increments. */
const savedStream = shareInFile(async () => {
  const { nats, database, tables } = await prepareToFollow();
  const { fold, state } = createCountingFold();
  const follower = createTestFollower(nats, {
    fold,
    snapshots: createSnapshotStore({ database, tables: () => tables, logger: silentLogger }),
    sinks: emptySinks(),
    policy: { intervalMs: 600_000, messages: 3 },
  });
  for (const position of saves) {
    for (let sequence = position - 2; sequence <= position; sequence++)
      await nats.js.publish('miner.counter.wheel', `message ${sequence}`);
    await eventually(() => follower.status().snapshotPosition === position, `the state of ${position}`);
  }
  await follower.stop({ graceMs: 5_000 });
  const listStored = () =>
    database.select(
      `SELECT part, chunk, position, cityHash64(payload) FROM ${tables.foldSnapshots} ORDER BY part, chunk`,
    );
  return { nats, database, tables, state: state(), listStored, stored: await listStored() };
});

/** Follows with an empty fold, like a process that has just started. */
async function startFollower(database: Database, logger: Logger = silentLogger) {
  const { nats, tables } = await savedStream();
  const { fold, seen, state } = createCountingFold();
  const removedAbove: number[] = [];
  const follower = createTestFollower(nats, {
    fold,
    snapshots: createSnapshotStore({ database, tables: () => tables, logger }),
    sinks: emptySinks(removedAbove),
    logger,
  });
  return { follower, seen, state, removedAbove, end: () => follower.stop({ graceMs: 5_000 }) };
}

/** Interferes with the reading statement of a number, from 0. */
function interruptRead(database: Database, number: number, interrupt: () => Promise<never>) {
  let reads = 0;
  const interrupted =
    <Query extends readonly unknown[], Answer>(read: (...query: Query) => Promise<Answer>) =>
    async (...query: Query) => {
      const answer = await read(...query);
      return reads++ === number ? interrupt() : answer;
    };
  return {
    ...database,
    select: interrupted(database.select),
    selectPlain: interrupted(database.selectPlain),
  };
}

describe('a restoration that is interrupted at any statement', () => {
  it('starts again when the connection is cut, and skips no snapshot', async () => {
    const { database, state, stored, listStored } = await savedStream();
    let isCut = true;
    for (let cuts = 0; isCut; cuts++) {
      isCut = false;
      const cut = await startFollower(
        interruptRead(database, cuts, async () => {
          isCut = true;
          throw new StorageUnavailable('the connection was cut');
        }),
      );
      await eventually(() => cut.follower.isCaughtUp, 'the restored state');
      expect([cut.state(), cut.seen, cut.removedAbove]).toEqual([
        state,
        { restoredAt: 12, sequences: [] },
        [],
      ]);
      await cut.end();
      expect(await listStored()).toEqual(stored);
    }
  });
});
