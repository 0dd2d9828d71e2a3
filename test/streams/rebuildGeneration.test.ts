import { describe, expect, it, onTestFinished } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { systemClock } from '../../deploy/process/systemClock.ts';
import type { Database } from '../../storage/database.ts';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { activate, createEmpty, findActiveTables, listGenerations } from '../../storage/generations.ts';
import { noteLineage, openEnd, readLineage } from '../../storage/lineages.ts';
import { migrate } from '../../storage/migrations.ts';
import { applyRowsTtl, readRowsTtlDays } from '../../storage/rowsTtl.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { generationPointer } from '../../storage/tables/generationPointer.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { createIngest } from '../../streams/ingest/ingest.ts';
import { describeLost, findLost } from '../../streams/ingest/lostMessages.ts';
import { createStreamGuard } from '../../streams/ingest/lostStreams.ts';
import { chooseGeneration, RebuildIncomplete } from '../../streams/ingest/rebuildGeneration.ts';
import { connectTo, startNats, type TestConnection } from '../support/processes/natsServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { migratedDeployment } from '../support/storage/migratedDeployment.ts';
import { openForTest, openTables } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const ours = { foldVersion: 2, configuration: 'ours' };
const others = { foldVersion: 1, configuration: 'others' };

const guard = (database: Database, nats: TestConnection) =>
  createStreamGuard({
    database,
    jetStream: () => nats,
    clock: systemClock,
    acceptedLosses: [],
    logger: silentLogger,
  });

type IngestOptions = Parameters<typeof createIngest>[0];

/** Starts the ingest of a process, by default of one that never asks NATS. */
function startIngest(
  input: { readonly writes: boolean },
  options: Pick<IngestOptions, 'database'> & Partial<IngestOptions>,
) {
  const created = createIngest({
    jetStream: () => {
      throw new Error('a process that only reads has no lease');
    },
    identity: ours,
    settlementIdentity: ours,
    deployment: migratedDeployment,
    clock: systemClock,
    logger: silentLogger,
    retention: { retentionDays: 0 },
    rowsTtlDays: 0,
    acceptsLoss: false,
    streamGuard: { check: async () => [], lost: [] },
    streamSettings: { check: async () => [] },
    actor: () => ingest,
    ...options,
  });
  const ingest: ReturnType<typeof createActor<typeof created.logic>> = createActor(created.logic, { input });
  return Object.assign(ingest.start(), created);
}

async function createFilled(identity: typeof ours | null = others) {
  const nats = await connectTo(await startNats());
  const { jsm, js } = nats;
  await createRemovableStreams(jsm);
  const { database, tables } = await openTables();
  const { created: streamCreated } = await jsm.streams.info('MINER_COUNTER');
  /** Tables that contain a reading. */
  const fill = async (filled: Tables, identity: typeof ours) => {
    await storeRows(database, filled, {
      readings: [acceptedReading({ position: 1, receivedAtMs: Date.now() })],
    });
    await noteGeneration(database, {
      ...identity,
      streamCreated,
      generation: filled.generation,
      atMs: Date.now(),
    });
  };
  if (identity !== null) await fill(tables, identity);
  let locks = 0;
  /** @param meanwhile runs before the claim is granted, in place of a replay. */
  const choose = (
    meanwhile: () => Promise<void> = async () => undefined,
    { acceptsLoss = false, nowMs = Date.now(), streamGuard = guard(database, nats) } = {},
  ) =>
    chooseGeneration({
      database,
      writer: { epoch: 1, holder: 'test' },
      jsm,
      identity: ours,
      settlementIdentity: ours,
      streamGuard,
      claim: async () => {
        await meanwhile();
        locks++;
        return () => {
          locks--;
        };
      },
      nowMs: () => nowMs,
      acceptsLoss,
      logger: silentLogger,
    });
  /** Activates the next generation, as a replay does. */
  const replay = async (identity: typeof ours) => {
    const rebuilt = resolveTables((await findActiveTables(database)).generation + 1);
    await createEmpty(database, rebuilt);
    await fill(rebuilt, identity);
    await activate(database, rebuilt);
  };
  return { nats, database, jsm, js, tables, choose, replay, locks: () => locks };
}

describe('the generation that is written to', () => {
  it('is the next one if another fold made the active rows, and nobody else fills tables meanwhile', async () => {
    const { database, choose, locks } = await createFilled();
    const [pointer, away] = [generationPointer.name, 'away'];
    const failing = choose(() => database.command(`RENAME TABLE ${pointer} TO ${away}`));
    await expect(failing).rejects.toThrow();
    expect(locks()).toBe(0);
    await database.command(`RENAME TABLE ${away} TO ${pointer}`);
    const { tables, rebuildsFrom } = await choose();
    expect([tables.generation, rebuildsFrom, locks()]).toEqual([2, 1, 1]);
  });

  it('has the snapshots of other streams and the TTL of rows, is filled on by the next process, and is activated', async () => {
    const { nats, database, jsm, tables } = await createFilled();
    const settings = { jetStream: () => nats, database, streamGuard: guard(database, nats), rowsTtlDays: 40 };
    const storeIn = (of: Tables) => createSnapshotStore({ database, tables: () => of });
    for (const stream of ['MINER_PIPELINE', 'MINER_CHAIN'] as const) {
      const { created: streamCreated } = await jsm.streams.info(stream);
      const place = { run: '', streamCreated, position: 0, digest: null, takenAtMs: 0 };
      await storeIn(tables).save({ ...ours, ...place, stream }, []);
    }
    const start = async () => {
      const ingest = startIngest({ writes: true }, settings);
      const { context } = await waitFor(ingest, (snapshot) => snapshot.hasTag('granted'));
      expect([context.grant, ingest.rebuildsFrom()]).toMatchObject([{ generation: 2, rebuildsFrom: 1 }, 1]);
      return ingest;
    };
    const first = await start();
    for (const stream of ['MINER_PIPELINE', 'MINER_CHAIN'] as const)
      expect(await storeIn(resolveTables(2)).list(stream)).toHaveLength(1);
    for (const { readings } of [tables, resolveTables(2)])
      expect(await readRowsTtlDays(database, readings)).toBe(40);
    first.send({ type: 'release' });
    await waitFor(first, ({ status }) => status === 'done');
    const next = await start();
    onTestFinished(() => {
      next.stop();
    });
    next.noteRebuilt();
    await waitFor(next, (snapshot) => snapshot.matches({ leasing: { ingesting: { tables: 'active' } } }));
    expect([next.rebuildsFrom(), (await findActiveTables(database)).generation]).toEqual([null, 2]);
  });

  it('is chosen again after a failure, and by the next process if this was the last step of one that stops', async () => {
    const { nats, database } = await createFilled();
    const settings = { jetStream: () => nats, streamGuard: guard(database, nats), rowsTtlDays: 40 };
    let isAway = true;
    const command: typeof database.command = async (sql, ...rest) => {
      const isLimit = sql.includes('MODIFY TTL');
      if (isLimit && isAway) {
        isAway = false;
        throw new Error('ClickHouse does not answer');
      }
      await database.command(sql, ...rest);
      // The last step of the choice.
      if (isLimit && sql.includes(resolveTables(2).readings)) first.send({ type: 'release' });
    };
    const first = startIngest({ writes: true }, { ...settings, database: { ...database, command } });
    await waitFor(first, ({ status }) => status === 'done');
    const next = startIngest({ writes: true }, { ...settings, database });
    onTestFinished(() => {
      next.stop();
    });
    await waitFor(next, (snapshot) => snapshot.hasTag('granted'));
    expect(next.getSnapshot().context.grant).toMatchObject({ generation: 2, rebuildsFrom: 1 });
  });

  it('is a new one, although the same fold made an older one', async () => {
    const { choose, replay } = await createFilled(ours);
    await replay(others);
    expect((await choose()).tables.generation).toBe(3);
  });

  it('is the active one after a kill before the first snapshot', async () => {
    const { database, choose, tables } = await createFilled(null);
    for (const position of [1, 2]) {
      expect(await choose()).toEqual({ tables, rebuildsFrom: null });
      await storeRows(database, tables, { readings: [acceptedReading({ position })] });
    }
  });

  it('is above the generation that a replay of another fold activates meanwhile, whose tables stay', async () => {
    const { database, choose, replay, locks } = await createFilled();
    let isReplayed = false;
    const { tables, rebuildsFrom } = await choose(async () => {
      if (!isReplayed) await replay(others);
      isReplayed = true;
    });
    expect([tables.generation, rebuildsFrom, locks()]).toEqual([3, 2, 1]);
    expect(await listGenerations(database)).toEqual([2, 3]);
  });

  it('is the generation that a replay of the same fold activates meanwhile', async () => {
    const { choose, replay, locks } = await createFilled();
    const { tables, rebuildsFrom } = await choose(() => replay(ours));
    expect([tables.generation, rebuildsFrom, locks()]).toEqual([2, null, 0]);
  });

  it('is not rebuilt without messages that have left stream and rows, unless the loss is accepted', async () => {
    const { database, jsm, js, tables, choose, locks } = await createFilled();
    for (let message = 1; message <= 9; message++) await js.publish('miner.counter.wheel', '{}');
    const reading = acceptedReading({ position: 5, receivedAtMs: Date.now() });
    await storeRows(database, tables, { readings: [reading] });
    await database.command(
      `ALTER TABLE ${tables.readings} DELETE WHERE position < 5 SETTINGS mutations_sync = 1`,
    );
    const nowMs = Date.now();
    const findLostNow = () => findLost({ database, jsm, nowMs: () => nowMs }, tables);
    // The stream holds everything.
    expect(await findLostNow()).toBeNull();
    await jsm.streams.purge('MINER_COUNTER', { seq: 8 });
    // Without a TTL each accepted reading has a row, so the first messages were rejected.
    expect(await findLostNow()).toBeNull();
    await applyRowsTtl(database, tables, { days: 32, nowMs });
    const lost = {
      throughSequence: 4,
      rowsGoneBeforeMs: nowMs - 32 * 86_400_000,
      oldestReceivedAtMs: reading.receivedAtMs,
    };
    expect(await findLostNow()).toEqual(lost);
    const refused = choose(undefined, { nowMs });
    await expect(refused).rejects.toThrow(RebuildIncomplete);
    await expect(refused).rejects.toThrow(`${describeLost(lost)} Run the version`);
    expect([await listGenerations(database), locks()]).toEqual([[1], 0]);
    // Expired rows do not come back when the TTL is removed.
    await applyRowsTtl(database, tables, { days: 0, nowMs });
    expect(await findLost({ database, jsm, nowMs: () => nowMs + 1 }, tables)).toEqual(lost);
    const accepted = await choose(undefined, { acceptsLoss: true });
    expect([accepted.tables.generation, locks()]).toEqual([2, 1]);
  });

  it('is not chosen if the state and the messages of MINER_PIPELINE are gone, unless the loss is accepted', async () => {
    const { nats, database, jsm, js, tables, choose } = await createFilled();
    for (let message = 1; message <= 3; message++) await js.publish('miner.oracle.wheel', '{}');
    const { created: streamCreated } = await jsm.streams.info('MINER_PIPELINE');
    const store = createSnapshotStore({ database, tables: () => tables });
    const save = async (identity: typeof ours) => {
      const header = {
        stream: 'MINER_PIPELINE',
        run: '',
        streamCreated,
        position: 2,
        digest: null,
        takenAtMs: Date.now(),
      } as const;
      await store.save({ ...header, ...identity }, []);
    };
    await noteGeneration(database, {
      ...ours,
      streamCreated: (await jsm.streams.info('MINER_COUNTER')).created,
      generation: tables.generation,
      atMs: Date.now(),
    });
    await jsm.streams.purge('MINER_PIPELINE', { seq: 3 });
    // No state was ever saved, so nothing known is lost.
    expect((await choose()).tables).toEqual(tables);
    await save(others);
    await expect(choose()).rejects.toThrow(RebuildIncomplete);
    await expect(choose()).rejects.toThrow('Messages 1 to 2 have left MINER_PIPELINE');
    expect((await choose(undefined, { acceptsLoss: true })).tables).toEqual(tables);
    // The refusal comes before the migration, so that the previous version can still run.
    await database.command('DROP VIEW readings');
    const ingest = startIngest(
      { writes: true },
      { jetStream: () => nats, database, streamGuard: guard(database, nats) },
    );
    const { context } = await waitFor(ingest, ({ status }) => status === 'done');
    expect(context.fault).toBeInstanceOf(RebuildIncomplete);
    await expect(database.select('SELECT * FROM readings')).rejects.toThrow('readings');
    await save(ours);
    expect((await choose()).tables).toEqual(tables);
  });
});

it('rows of the chain count no longer if the loss of their stream is accepted, but those of the found one do again', async () => {
  const { database, jsm, choose } = await createFilled(null);
  const { created: streamCreated } = await jsm.streams.info('MINER_CHAIN');
  const noteAt = (step: number, created: string, run: string) =>
    noteLineage(
      database,
      { ...someLineage, epoch: 0, step, streamCreated: created, runs: [{ run, through: openEnd }] },
      0,
    );
  const accept = (folded: string) => {
    const lost = [{ stream: 'MINER_CHAIN', folded, found: streamCreated }] as const;
    return choose(undefined, { streamGuard: { check: async () => lost, lost: [] } });
  };
  await noteAt(1, 'before', 'first');
  await accept('before');
  expect(await readLineage(database, 'MINER_CHAIN')).toMatchObject({ streamCreated, runs: [] });
  // Another NATS has been in use meanwhile.
  await database.command('TRUNCATE TABLE lineages');
  await noteAt(1, streamCreated, 'first');
  await noteAt(2, 'other', 'second');
  await accept('other');
  const runs = [{ run: 'first', through: openEnd }];
  expect(await readLineage(database, 'MINER_CHAIN')).toMatchObject({ streamCreated, runs });
});

it('a process that only reads waits for the tables of evicted events', async () => {
  const database = openForTest();
  const reader = startIngest({ writes: false }, { database });
  onTestFinished(() => {
    reader.stop();
  });
  const refused = await waitFor(reader, (one) => one.context.failures > 0 || one.hasTag('granted'));
  expect(refused.hasTag('granted')).toBe(false);
  await migrate(database, silentLogger, migratedDeployment);
  const { context } = await waitFor(reader, (snapshot) => snapshot.hasTag('granted'));
  expect(context.grant).toEqual({ epoch: null, generation: 1, rebuildsFrom: null });
});
