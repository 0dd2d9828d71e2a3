import { expect, it, onTestFinished } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { createIngest } from '../../streams/ingest/ingest.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

it('a process that only reads waits for the tables of evicted events', async () => {
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  const { logic } = createIngest({
    jetStream: () => {
      throw new Error('a process that only reads has no lease');
    },
    database,
    identity: { foldVersion: 1, configuration: '' },
    settlementIdentity: { foldVersion: 1, configuration: '' },
    clock: systemClock,
    logger: silentLogger,
    retention: { retentionDays: 0 },
    rowsTtlDays: 0,
    acceptsLoss: false,
    streamGuard: { check: async () => [], lost: [] },
    actor: () => undefined,
  });
  const reader = createActor(logic, { input: { writes: false } }).start();
  onTestFinished(() => {
    reader.stop();
  });
  const refused = await waitFor(reader, (one) => one.context.failures > 0 || one.hasTag('granted'));
  expect(refused.hasTag('granted')).toBe(false);
  await migrate(database, silentLogger);
  const { context } = await waitFor(reader, (snapshot) => snapshot.hasTag('granted'));
  expect(context.grant).toEqual({ epoch: null, generation: 1, rebuildsFrom: null });
});
