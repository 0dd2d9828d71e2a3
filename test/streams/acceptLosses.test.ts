import { describe, expect, it, onTestFinished } from 'vitest';
import { createActor, waitFor } from 'xstate';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { insertRows } from '../../storage/definition/table.ts';
import { migrate } from '../../storage/migration/migrate.ts';
import { applyReadingsTtl, readReadingsTtlDays } from '../../storage/rows/readingsTtl.ts';
import { type Lineage, noteLineage, openEnd, readLineage } from '../../storage/runs/lineages.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { lineages } from '../../storage/tables/lineages.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { readings as readingTable } from '../../storage/tables/readings.ts';
import {
  type AcceptedLossOptions,
  leaveLostStreams,
  requireComplete,
} from '../../streams/ingest/acceptLosses.ts';
import { createIngest } from '../../streams/ingest/ingest.ts';
import { describeLost, findLost } from '../../streams/ingest/lostMessages.ts';
import { createStreamGuard } from '../../streams/ingest/lostStreams.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { connectTo, startNats, type TestConnection } from '../support/processes/natsServer.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openForTest, openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const ours = { foldVersion: 2, configuration: 'ours' };
const others = { foldVersion: 1, configuration: 'others' };
const ownRuns = [{ run: 'run', through: openEnd }];

const guard = (database: Database, nats: TestConnection, acceptedLosses: readonly string[] = []) =>
  createStreamGuard({
    database,
    jetStream: () => nats.jetStream,
    clock: systemClock,
    acceptedLosses,
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
    clock: systemClock,
    logger: silentLogger,
    retentionDays: 0,
    readingsTtlDays: 0,
    acceptsLoss: false,
    streamGuard: { check: async () => [], lost: [] },
    streamSettings: { check: async () => [] },
    actor: () => ingest,
    ...options,
  });
  const ingest: ReturnType<typeof createActor<typeof created.logic>> = createActor(created.logic, { input });
  onTestFinished(() => {
    ingest.stop();
  });
  return Object.assign(ingest.start(), created);
}

/** Streams, and a database to which a test adds lineages of them. */
async function open() {
  const nats = await connectTo(await startNats());
  const { jsm, js, jetStream } = nats;
  await createRemovableStreams(jsm);
  const { database } = await openTables();
  const createdOf = async (stream: InputStreamName) => (await jsm.streams.info(stream)).created;
  let step = 0;
  return {
    nats,
    jsm,
    js,
    jetStream,
    database,
    createdOf,
    note: async (stream: InputStreamName, change: Partial<Lineage> = {}) => {
      const streamCreated = await createdOf(stream);
      const lineage = { ...someLineage, stream, streamCreated, epoch: 1, step: ++step, ...change };
      await noteLineage(database, lineage, 0);
    },
    require: (change: Partial<AcceptedLossOptions> = {}) =>
      requireComplete({
        database,
        jetStream,
        identity: ours,
        settlementIdentity: ours,
        nowMs: Date.now,
        acceptsLoss: false,
        logger: silentLogger,
        ...change,
      }),
    purge: async (stream: InputStreamName, subject: string, first: number) => {
      for (let message = 1; message <= first; message++) await js.publish(subject, '{}');
      await jsm.streams.purge(stream, { seq: first });
    },
    count: async (table: string) => Number((await database.select(`SELECT count() FROM ${table}`))[0]?.[0]),
  };
}

describe('a stream is folded from its beginning', () => {
  const receivedAtMs = Date.now();
  const nowMs = receivedAtMs + 1_000;
  const purgedThrough = 4;

  /** Rows of another version from message 5 on, of a stream without its first seven messages. */
  async function openOther() {
    const opened = await open();
    const { database, purge, note } = opened;
    await purge('MINER_COUNTER', 'miner.counter.wheel', 8);
    await storeRows(database, { readings: [acceptedReading({ position: 5, receivedAtMs })] });
    await note('MINER_COUNTER', others);
    return opened;
  }
  const lost = {
    throughSequence: purgedThrough,
    readingsGoneBeforeMs: nowMs - 32 * 86_400_000,
    oldestReceivedAtMs: receivedAtMs,
  };

  it('lacks only messages gone from stream and rows, unless accepted', async () => {
    const { database, jetStream, require, count } = await openOther();
    const findLostNow = (atMs = nowMs) => findLost({ database, jetStream, nowMs: () => atMs }, ownRuns);
    // Without a TTL each accepted reading has a row, so the first messages were rejected.
    expect(await findLostNow()).toBeNull();
    await require();
    await applyReadingsTtl(database, { days: 32, nowMs });
    expect(await findLostNow()).toEqual(lost);
    const refused = require({ nowMs: () => nowMs });
    await expect(refused).rejects.toMatchObject({ kind: 'unusable', exitStatus: 2 });
    await expect(refused).rejects.toThrow(`${describeLost(lost)} Run the version`);
    // Expired rows do not come back when the TTL is removed.
    await applyReadingsTtl(database, { days: 0, nowMs });
    expect(await findLostNow(nowMs + 1)).toEqual(lost);
    await require({ acceptsLoss: true });
    expect([await count(readingTable.name), await count(lineages.name)]).toEqual([1, 1]);
  });

  it('counts only rows of its own runs', async () => {
    const { database, jetStream } = await openOther();
    await applyReadingsTtl(database, { days: 32, nowMs });
    const earlier = acceptedReading({ position: 1, receivedAtMs });
    await storeRows(database, { readings: [earlier] }, 'of a replay');
    expect(await findLost({ database, jetStream, nowMs: () => nowMs }, ownRuns)).toEqual(lost);
    const both = [{ run: 'of a replay', through: 4 }, ...ownRuns];
    expect(await findLost({ database, jetStream, nowMs: () => nowMs }, both)).toBeNull();
    const withoutFirst = { info: async () => streamInfo({ firstSequence: 2 }) } as unknown as StreamPort;
    expect(await findLost({ database, jetStream: withoutFirst, nowMs: () => nowMs }, ownRuns)).toMatchObject({
      throughSequence: 1,
    });
  });

  it.each<[string, Partial<Lineage>[]]>([
    ['this version has a lineage, although another one is newer', [{ ...ours, epoch: 0 }, others]],
    ['the newest lineage is of this version', [ours]],
    ['no lineage has rows', [{ ...others, runs: [] }]],
    ['no process has ever folded it', []],
  ])('loses nothing if %s', async (_, lineages) => {
    const { database, purge, note, require } = await open();
    await purge('MINER_COUNTER', 'miner.counter.wheel', 8);
    await storeRows(database, { readings: [acceptedReading({ position: 5, receivedAtMs })] });
    await applyReadingsTtl(database, { days: 32, nowMs });
    for (const lineage of lineages) await note('MINER_COUNTER', lineage);
    await require({ nowMs: () => nowMs });
  });

  it('needs all messages of MINER_PIPELINE, unless its state fits', async () => {
    const { nats, database, purge, note, require } = await open();
    await purge('MINER_PIPELINE', 'miner.oracle.wheel', 2);
    // No state was ever saved, so nothing known is lost.
    await require();
    await note('MINER_PIPELINE', others);
    await expect(require()).rejects.toMatchObject({ kind: 'unusable', exitStatus: 2 });
    await expect(require()).rejects.toThrow('Messages 1 to 1 have left MINER_PIPELINE');
    await require({ acceptsLoss: true });
    // The refusal comes before the migration, so that the previous version can still run. That would find a table missing.
    await database.command('TRUNCATE TABLE migrations');
    await insertRows(database, migrations, [{ number: 1, name: 'earlier' }]);
    await database.command('DROP TABLE aged_rows');
    const ingest = startIngest(
      { writes: true },
      { jetStream: () => nats.jetStream, database, streamGuard: guard(database, nats) },
    );
    const { context } = await waitFor(ingest, ({ status }) => status === 'done');
    expect(context.fault).toMatchObject({ kind: 'unusable' });
    await note('MINER_PIPELINE', ours);
    await require();
    // Its states are gone, or no longer count.
    await note('MINER_PIPELINE', { ...ours, position: 2 });
    const place = { position: 2, streamCreated: 'now', digest: null, takenAtMs: 0 };
    const save = (run: string) =>
      createSnapshotStore(database).save(
        { ...ours, ...place, run, stream: 'MINER_PIPELINE' },
        [],
        () => true,
      );
    await save('check');
    await expect(require()).rejects.toThrow('no saved state of MINER_PIPELINE is of this version');
    await save('run');
    await require();
  });

  it('loses nothing while MINER_PIPELINE has all of its messages', async () => {
    const { note, require } = await open();
    await note('MINER_PIPELINE', others);
    await require();
  });
});

describe('what was made from a lost stream', () => {
  /** Accepts the loss of streams as the process does that ingests. */
  async function accept(
    { database, nats }: Awaited<ReturnType<typeof open>>,
    epoch: number,
    accepted: readonly string[],
  ) {
    const streamGuard = guard(database, nats, accepted);
    let lost: Awaited<ReturnType<typeof streamGuard.check>> | null = null;
    // NATS has to say it several times.
    while (lost === null) lost = await streamGuard.check().catch(() => null);
    const options = { database, jetStream: nats.jetStream, nowMs: Date.now, logger: silentLogger };
    await leaveLostStreams(options, { epoch, holder: 'test' }, lost);
    return lost.map(({ stream }) => stream);
  }

  it.each(['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN'] as const)(
    'counts no longer for %s once accepted, and is not removed',
    async (stream) => {
      const opened = await open();
      const { database, createdOf, note, count } = opened;
      const snapshots = createSnapshotStore(database);
      await storeRows(database, { readings: [acceptedReading()] });
      const place = { run: 'run', position: 1, digest: null, takenAtMs: 0 };
      await snapshots.save({ ...ours, ...place, stream, streamCreated: 'before' }, [], () => true);
      await note(stream, { ...ours, streamCreated: 'before' });
      const found = await createdOf(stream);
      expect(await accept(opened, 2, [`${stream}@before`])).toEqual([stream]);
      expect(await readLineage(database, stream)).toMatchObject({ ...ours, streamCreated: found, runs: [] });
      // A process of the earlier epoch that still runs does not make it count again.
      await note(stream, { ...ours, streamCreated: 'before' });
      expect((await readLineage(database, stream))?.runs).toEqual([]);
      expect([await count(readingTable.name), (await snapshots.list(stream)).length]).toEqual([1, 1]);
      expect(await accept(opened, 3, [])).toEqual([]);
    },
  );

  it('counts again when that stream comes back, once the loss of the one in between is accepted', async () => {
    const opened = await open();
    const { database, createdOf, note } = opened;
    const stream = 'MINER_COUNTER';
    await note(stream, ours);
    // Another NATS is used for a while.
    await note(stream, { ...ours, epoch: 2, streamCreated: 'between', runs: [] });
    const between = [{ run: 'between', through: openEnd }];
    await note(stream, { ...ours, epoch: 2, streamCreated: 'between', runs: between });
    expect(await accept(opened, 3, [`${stream}@between`])).toEqual([stream]);
    const streamCreated = await createdOf(stream);
    expect(await readLineage(database, stream)).toMatchObject({ streamCreated, runs: ownRuns, epoch: 3 });
    expect(await readLineage(database, stream, { streamCreated: 'between' })).toMatchObject({
      runs: between,
    });
  });

  it('stays as it is if nothing of it is lost', async () => {
    const opened = await open();
    const { database, note, count } = opened;
    await note('MINER_CHAIN');
    expect(await accept(opened, 2, ['MINER_CHAIN@before', 'MINER_COUNTER@before'])).toEqual([]);
    const options = { database, jetStream: opened.jetStream, nowMs: Date.now, logger: silentLogger };
    const lost = { stream: 'MINER_COUNTER', folded: 'before', found: null } as const;
    await leaveLostStreams(options, { epoch: 2, holder: 'test' }, [lost]);
    expect(await count(lineages.name)).toBe(1);
    expect(await readLineage(database, 'MINER_CHAIN')).toMatchObject({ epoch: 1 });
  });
});

it('a process that ingests leaves out what is lost, after failures too', async () => {
  const { nats, database, createdOf, note } = await open();
  await note('MINER_COUNTER', { ...ours, streamCreated: 'before' });
  let isAway = true;
  const command: typeof database.command = async (sql, ...rest) => {
    if (sql.includes('MODIFY TTL') && isAway) {
      isAway = false;
      throw new Error('ClickHouse does not answer');
    }
    await database.command(sql, ...rest);
  };
  const streamGuard = guard(database, nats, ['MINER_COUNTER@before']);
  const settings = { jetStream: () => nats.jetStream, streamGuard, readingsTtlDays: 40 };
  const ingest = startIngest({ writes: true }, { ...settings, database: { ...database, command } });
  const { context } = await waitFor(ingest, (snapshot) => snapshot.hasTag('granted'), { timeout: 30_000 });
  expect([isAway, await readReadingsTtlDays(database)]).toEqual([false, 40]);
  expect(context.grant).toEqual({ epoch: context.epoch });
  const streamCreated = await createdOf('MINER_COUNTER');
  expect(await readLineage(database, 'MINER_COUNTER')).toMatchObject({ streamCreated, runs: [] });
});

it('a process that only reads waits for the tables of evicted events', async () => {
  const database = openForTest();
  const reader = startIngest({ writes: false }, { database });
  // Not even two processes of one name and number are the same writer.
  expect(startIngest({ writes: false }, { database }).holder).not.toBe(reader.holder);
  const refused = await waitFor(reader, (one) => one.context.failures > 0 || one.hasTag('granted'));
  expect(refused.hasTag('granted')).toBe(false);
  await migrate(database, silentLogger);
  const { context } = await waitFor(reader, (snapshot) => snapshot.hasTag('granted'));
  expect(context.grant).toEqual({ epoch: null });
});
