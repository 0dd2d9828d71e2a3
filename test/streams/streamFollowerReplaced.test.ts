import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { identifyFold } from '../../actors/foldIdentity.ts';
import { createEmpty } from '../../storage/generations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { noRows } from '../../storage/storedRows.ts';
import { resolveTables } from '../../storage/tables.ts';
import type { StreamFold } from '../../streams/pipeline/streamFold.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { silentLogger } from '../support/silentLogger.ts';
import {
  createTestFollower,
  emptySinks,
  followedStream,
  prepareToFollow,
} from '../support/streams/testFollower.ts';

it('a follower that is stopped while it restores from replaced tables saves nothing of the previous tables', async () => {
  const prepared = await prepareToFollow();
  const { nats, database } = prepared;
  let { tables } = prepared;
  const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  /** Set while ClickHouse does not answer the request for snapshots. */
  let restoring: Promise<void> | null = null;
  let stored: string[] = [];
  let restoredAt: number | null = null;
  const fold: StreamFold = {
    identity: identifyFold(1, {}),
    // Rows are stored at once in the tables that are active.
    receive: ({ messages }) => {
      for (const { seq } of messages) stored.push(`g${tables.generation} ${seq}`);
      return { rows: noRows, rejections: [] };
    },
    capture: () => ({ all: () => [{ kind: 'state', key: '', value: '{}' }], changes: null }),
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
      stored = ['g2 1', 'g2 2', 'g2 3', 'g2 4', 'g2 5'];
    },
  });
  const running = follower.ended;
  for (let number = 0; number < 10; number++) await nats.js.publish('miner.counter.wheel', `${number}`);
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
  const saved = (await store.list(followedStream)).map(({ position }) => position);
  answer();
  // The request is answered only now, when the follower has been stopped.
  const isEnded = await Promise.race([running.then(() => true), sleep(5_000).then(() => false)]);
  // Only the previous tables hold the rows of 6 to 10: a snapshot of 10 would omit them for good.
  expect({ saved, stored: stored.length, isEnded }).toEqual({ saved: [], stored: 5, isEnded: true });
});
