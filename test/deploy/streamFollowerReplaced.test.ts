import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { foldIdentity } from '../../actors/foldIdentity.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import { noRows } from '../../actors/storedRows.ts';
import { systemClock } from '../../deploy/systemClock.ts';
import { openDatabase } from '../../storage/database.ts';
import { createEmpty } from '../../storage/generations.ts';
import { migrate } from '../../storage/migrations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { type Tables, tablesOf } from '../../storage/tables.ts';
import { ensureStreams } from '../../streams/jetstream/ensureStreams.ts';
import { createMessageSource } from '../../streams/jetstream/messageSource.ts';
import type { StreamFold } from '../../streams/streamFold.ts';
import { createStreamFollower, type FollowerSinks } from '../../streams/streamFollower.ts';
import { eventually } from '../support/childProcess.ts';
import { connectTo, startNats } from '../support/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const stream = 'MINER_COUNTER';

it('a follower that is stopped while it restores from replaced tables saves nothing of the tables before', async () => {
  const nats = await connectTo(await startNats());
  await ensureStreams(nats.jsm, streamNames, { retentionDays: 0 }, silentLogger);
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  let tables: Tables = await migrate(database, silentLogger);
  const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  /** Set while ClickHouse does not answer to the question for snapshots. */
  let away: Promise<void> | null = null;
  let stored: string[] = [];
  let restoredAt: number | null = null;
  const fold: StreamFold = {
    identity: foldIdentity(1, {}),
    // Rows go at once to the tables that are active then.
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
    convertLines: () => [],
  };
  const sinks: FollowerSinks = {
    writer: null,
    rejections: null,
    resumeAfter: async () => undefined,
    removeAbove: async () => undefined,
  };
  const source = createMessageSource({
    ...nats,
    stream,
    clock: systemClock,
    logger: silentLogger,
  });
  const follower = createStreamFollower({
    ...nats,
    stream,
    source,
    fold,
    snapshots: {
      ...store,
      list: async (asked) => {
        await away;
        return store.list(asked);
      },
    },
    sinks,
    policy: { intervalMs: 600_000, messages: 1_000_000 },
    clock: systemClock,
    logger: silentLogger,
  });
  const running = follower.run();
  for (let number = 0; number < 10; number++) await nats.js.publish('miner.counter.wheel', `${number}`);
  await eventually(() => restoredAt !== null && follower.status().position === 10, 'ten messages');

  // A replay through message 5 ends: its tables hold the rows of 1 to 5 and become the active ones.
  const replayed = tablesOf(2);
  await createEmpty(database, replayed);
  let answer: () => void = () => undefined;
  away = new Promise((resolve) => {
    answer = resolve;
  });
  follower.restoreAnew(() => {
    tables = replayed;
    stored = ['g2 1', 'g2 2', 'g2 3', 'g2 4', 'g2 5'];
  });
  await eventually(() => tables.generation === 2, 'the replaced tables');
  await follower.stop({ graceMs: 5_000 });
  const saved = (await store.list(stream)).map(({ position }) => position);
  answer();
  // What was asked meanwhile is answered only now: nothing is followed any more.
  const isEnded = await Promise.race([running.then(() => true), sleep(5_000).then(() => false)]);
  // The rows of 6 to 10 are in the tables of before only: a snapshot of 10 would leave them out for good.
  expect({ saved, stored: stored.length, isEnded }).toEqual({ saved: [], stored: 5, isEnded: true });
});
