import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseRecord } from '../../actors/foldRecord.ts';
import { counterSubject } from '../../actors/messages/subjects.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { compareDays } from '../../storage/generationDifferences.ts';
import { findActiveTables, listGenerations } from '../../storage/generations.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { resolveTables, type Tables } from '../../storage/tables.ts';
import { genesisMs } from '../support/genesis.ts';
import { createRecords } from '../support/increments.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats, type TestConnection } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import {
  mixedPublications,
  publishAll,
  publishMany,
  readingMessage,
  toPublication,
} from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { readRejections, storedState } from '../support/storage/storedState.ts';

/** Three installations, one reading per minute each: the second universal day begins with the 4,321st. */
const untilSecondDay = mixedPublications(4_500, 0, 60_000);
const everything = { fromSequence: 1, throughSequence: Number.MAX_SAFE_INTEGER, installationId: null };
const statisticsPath = '/v1/measurement/stats?range=7d';

/** Runs a service until published readings are stored, stops it, and returns ways to run commands on its data. */
async function foldPublished(publish: (connection: TestConnection) => Promise<void>) {
  const { connection, settings, last } = await foldAndStop(publish);
  const { natsUrl, dataDir } = settings;
  const location = { path: join(dataDir, 'clickhouse') };
  const environment = {
    MINER_NATS_URL: natsUrl,
    MINER_DATA_DIR: dataDir,
    MINER_DEPLOYMENT: writeDeployment(dataDir),
  };
  return {
    nats: connection,
    last,
    environment,
    restart: () => startMiner(settings),
    replay: (...args: string[]) => minerCommand(['replay', ...args], environment),
    state: () => storedState(location),
    database: <Result>(work: (database: Database, tables: Tables) => Promise<Result>) =>
      onDatabase(location.path, work),
  };
}

async function onDatabase<Result>(
  path: string,
  work: (database: Database, tables: Tables) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ path });
  try {
    return await work(database, await findActiveTables(database));
  } finally {
    await database.close();
  }
}

/** Stored rows of one installation on the second universal day. */
const ofSecondDay = `installation_id = 'wheel.one' AND start >= fromUnixTimestamp64Milli(${genesisMs + 86_400_000}, 'UTC')`;

/** Removes rounds, as a fault of an older version might have. */
async function damage(database: Database, tables: Tables, condition = ofSecondDay) {
  await database.command(`ALTER TABLE ${tables.rounds} DELETE WHERE ${condition}`);
  await eventually(
    async () =>
      Number((await database.select(`SELECT count() FROM ${tables.rounds} WHERE ${condition}`))[0]?.[0]) ===
      0,
    'the damage',
  );
}

async function newestState(database: Database, tables: Tables): Promise<string | undefined> {
  const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  const [header] = await store.list('MINER_COUNTER');
  if (header === undefined) return undefined;
  const records = createRecords();
  for await (const lines of store.read(header)) records.apply(lines.map(parseRecord));
  return records
    .sorted()
    .map((record) => record.join(' '))
    .join('\n');
}

const engine = useClickHouseEngine();

describe('replay', () => {
  it('reports what it would change, changes it, and then finds nothing to change', async () => {
    const { replay, state, database, restart, last } = await foldPublished(({ connection }) =>
      publishAll(connection, untilSecondDay),
    );
    const before = await state();
    await database((one, tables) => damage(one, tables));
    const damaged = await state();
    expect(damaged.rounds.length).toBeLessThan(before.rounds.length);

    const dry = await replay('--from-sequence', '1', '--dry-run');
    expect(dry.status).toBe(0);
    expect(dry.output).toMatch(
      /1 days differ .*\n2026-02-01 {2}wheel\.one {2}rounds 0 -> \d+ \(\+\d+\), work units 0 -> \d+ \(\+\d+\)\n/,
    );
    expect(dry.output).toContain('nothing was changed');
    expect(await state()).toEqual(damaged);
    expect(await database(listGenerations)).toEqual([1]);
    expect((await replay('--from-sequence', '1', '--dry-run')).output).toContain(
      'into generation 2, a dry run',
    );

    const real = await replay('--from-time', new Date(genesisMs).toISOString());
    expect(real).toMatchObject({ status: 0 });
    expect(real.output).toContain('1 days differ');
    expect(await state()).toEqual(before);
    // The dry runs left nothing behind.
    expect(await database(async (_, tables) => tables.generation)).toBe(2);

    const again = await replay('--from-sequence', '1500');
    expect(again.output).toContain('no day differs');
    expect(await state()).toEqual(before);
    expect(await database(listGenerations)).toEqual([2, 3]);

    const miner = await restart();
    await waitUntilReady(miner);
    expect(miner.output()).toContain('"snapshot restored"');
    expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}')).toBe(0);
    expect(await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')).toBe(last);
    const rejected = await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="rejected"}');
    expect(rejected).toBe(0);
  });

  it('of one installation leaves the others’ rows and state unchanged', async () => {
    const { replay, state, database } = await foldPublished(({ connection }) =>
      publishAll(connection, untilSecondDay),
    );
    const before = await state();
    const stateBefore = await database(newestState);
    await database((one, tables) => damage(one, tables));
    await database((one, tables) => damage(one, tables, "installation_id = 'wheel:two'"));
    const selectRows = (rows: readonly (readonly unknown[])[], id: string) =>
      rows.filter((row) => row[0] === id);

    const { status, output } = await replay(...['--from-sequence', '1', '--installation', 'wheel.one']);
    expect([status, output]).toEqual([0, expect.stringContaining('1 days differ')]);
    const after = await state();
    expect(selectRows(after.rounds, 'wheel.one')).toEqual(selectRows(before.rounds, 'wheel.one'));
    expect(selectRows(after.rounds, 'wheel:two')).toEqual([]);
    expect(selectRows(after.rounds, 'wheel-three')).toEqual(selectRows(before.rounds, 'wheel-three'));
    expect(after.readings).toEqual(before.readings);
    expect(after.buckets).toEqual(before.buckets);
    expect((await database(newestState))?.split('\n').sort()).toEqual(stateBefore?.split('\n').sort());
  });

  it('continues where it was stopped or killed, and says what prevents it', async () => {
    const { replay, state, environment, database, nats } = await foldPublished(({ connection }) =>
      publishMany(connection, 'wheel.one', 0, 24_000),
    );
    const before = await state();
    const first = startMinerCommand(['replay', '--from-sequence', '5'], environment);
    await first.written('replay of messages');
    expect(await first.end('SIGINT')).toBe(0);
    expect(first.output()).toContain('stopped; the same command resumes where it was');

    const other = await replay('--from-sequence', '6');
    expect(other.status).toBe(1);
    expect(other.output).toContain('another replay is unfinished, of messages 5 to 24000');
    const killed = startMinerCommand(['replay', '--from-sequence', '5'], environment);
    await killed.written('resuming the replay');
    // Paused, so that it cannot end before the other one has started.
    killed.child.kill('SIGSTOP');
    const beside = await replay('--from-sequence', '5');
    expect(beside.status).toBe(1);
    expect(beside.output).toMatch(/in use by process|a replay is running already/);
    await killed.end('SIGKILL');
    expect(await state()).toEqual(before);

    const discarded = await replay('--discard');
    expect([discarded.status, discarded.output]).toEqual([0, expect.stringContaining('is discarded')]);
    expect(await database(listGenerations)).toEqual([1]);
    const to = await replay('--from-sequence', '5', '--to', '14000');
    expect([to.status, to.output]).toEqual([0, expect.stringContaining('messages 5 to 14000')]);
    expect((await state()).readings).toHaveLength(14_000);

    const beyond = await replay('--from-sequence', '24001');
    expect([beyond.status, beyond.output]).toEqual([
      1,
      expect.stringContaining('MINER_COUNTER ends at 24000'),
    ]);
    const neither = await replay('--dry-run');
    expect(neither.status).toBe(2);
    expect(neither.output).toContain('expected either --from-sequence or --from-time');
    const noTime = await replay('--from-time', 'yesterday');
    expect([noTime.status, noTime.output]).toEqual([1, expect.stringContaining('such as 2026-11-21')]);
    await nats.jsm.streams.purge('MINER_COUNTER', { seq: 12_001 });
    const gone = await replay('--from-sequence', '1');
    expect(gone.status).toBe(1);
    expect(gone.output).toMatch(/begins at 12001, stored at [^;]*; what came before is gone/);
    expect(gone.output).toContain('Messages 1 to 12000 cannot be rebuilt: their rows of readings, rounds,');
    expect(gone.output).toContain('begin at 14001 or above, or --incomplete continues without them');
    // Rows of lost messages stay, and the state before them is folded from the stored readings.
    const incomplete = await replay('--from-sequence', '1', '--incomplete');
    expect([incomplete.status, incomplete.output]).toEqual([
      0,
      expect.stringContaining('Messages 1 to 12000 cannot be rebuilt'),
    ]);
    expect((await state()).readings).toEqual(before.readings.slice(0, 14_000));
  });

  it('of many readings, killed at three random moments, equals the live result', async () => {
    const count = 24_000;
    const { environment, nats, database, restart, replay } = await foldPublished(({ connection }) =>
      publishMany(connection, 'wheel.one', 0, count),
    );
    const { bytes } = (await nats.jsm.streams.info('MINER_COUNTER')).state;
    const command = ['replay', '--from-sequence', '1'];
    for (let kill = 0; kill < 3; kill++) {
      const proxy = await startCuttingProxy(environment.MINER_NATS_URL);
      const run = startMinerCommand(command, { ...environment, MINER_NATS_URL: proxy.url });
      await run.written(`messages 1 to ${count}`);
      // Even if each of the three killed runs resumes the previous one, together they read less than all messages.
      const readBytes = Math.floor(bytes * 0.3 * Math.random());
      await Promise.race([proxy.forwarded(readBytes), run.exited]);
      expect(
        await run.end('SIGKILL'),
        `ended before it had read ${readBytes} bytes: ${run.output()}`,
      ).toBeNull();
    }
    const { status, output } = await replay('--from-sequence', '1');
    expect([status, output]).toEqual([0, expect.stringContaining('no day differs')]);
    expect(output).toContain('resuming the replay');
    await database(async (one, tables) => {
      expect(tables.generation).toBe(2);
      expect(await compareDays(one, { before: resolveTables(1), after: tables }, everything)).toEqual([]);
      const [row] = await one.select(`SELECT count(), max(position) FROM ${tables.readings} FINAL`);
      expect(row?.map(Number)).toEqual([count, count]);
      expect(await newestState(one, tables)).toBe(await newestState(one, resolveTables(1)));
    });
    const miner = await restart();
    await waitUntilReady(miner);
    expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}')).toBe(0);
  });

  it('ends at the last stored position: the service folds, and rejects, what follows', async () => {
    const readings = mixedPublications(60, 0, 60_000);
    const rejected = { subject: counterSubject('wheel.one'), body: '{' };
    const { nats, replay, restart, last, environment } = await foldPublished(({ connection }) =>
      publishAll(connection, readings.slice(0, 30)),
    );
    const onEmptyFolder = { ...environment, MINER_DATA_DIR: temporaryDirectory() };
    const early = await minerCommand(['replay', '--from-sequence', '1'], onEmptyFolder);
    expect(early).toMatchObject({ status: 1, output: expect.stringContaining('holds no readings yet') });
    await publishAll(nats.connection, [rejected, ...readings.slice(30)]);
    expect(await replay('--from-sequence', '1')).toMatchObject({ status: 0 });
    const miner = await restart();
    await waitUntilStored(miner, last + 31);
    expect(await readRejections(nats, 'MINER_COUNTER')).toContainEqual({
      sequence: last + 1,
      reason: 'malformed',
    });
    expect(await miner.end('SIGTERM')).toBe(0);
  });

  it('lets a running service take over the new tables, without going back in anything that it shows', async () => {
    const nats = await startNats();
    const clickHouse = await engine.createDatabase();
    const dataDir = temporaryDirectory();
    const settings = { natsUrl: nats.url, dataDir, clickhouseUrl: clickHouse };
    const miner = await startMiner(settings);
    const replica = await startMiner({ ...settings, role: 'serve' });
    await waitUntilReady(miner);
    await waitUntilReady(replica);
    const { connection, js } = await connectTo(nats);
    await publishMany(connection, 'wheel.one', 0, 12_000);
    await waitUntilStored(miner, 12_000);

    let published = 12_000;
    let isPublishing = true;
    onTestFinished(() => {
      isPublishing = false;
    });
    const seen = { sequences: [] as number[], statuses: new Set<number>() };
    const publishingAndPolling = (async () => {
      while (isPublishing) {
        const { subject, body } = toPublication(readingMessage('wheel.one', published));
        await js.publish(subject, body);
        published++;
        for (const one of [miner, replica]) {
          const statistics = await fetch(`${one.publicUrl}${statisticsPath}`);
          if (statistics.status === 503)
            expect(await statistics.json()).toMatchObject({ error: 'public_stats_rebuilding' });
          seen.statuses.add(statistics.status);
        }
        const { sequence } = await miner.json<{ sequence: number }>('/v1/public/telemetry');
        seen.sequences.push(sequence);
      }
    })();

    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_CLICKHOUSE_URL: clickHouse,
      MINER_DEPLOYMENT: writeDeployment(dataDir),
    };
    const { status, output } = await minerCommand(['replay', '--from-sequence', '1'], environment);
    expect([status, output]).toEqual([0, expect.stringContaining('generation 2 is active')]);
    for (const one of [miner, replica]) {
      await eventually(async () => (await one.metric('miner_table_generation')) === 2, 'the new generation');
      await eventually(async () => (await fetch(`${one.publicUrl}${statisticsPath}`)).ok, 'statistics');
    }
    const switchedAt = seen.sequences.length;
    await eventually(() => seen.sequences.length > switchedAt + 20, 'answers from the new tables');
    isPublishing = false;
    await publishingAndPolling;
    await waitUntilStored(miner, published);
    expect(seen.sequences).toEqual(seen.sequences.toSorted((a, b) => a - b));
    expect(seen.sequences.length).toBeGreaterThan(20);
    for (const code of seen.statuses) expect([200, 503]).toContain(code);

    const stored = await storedState({ url: clickHouse });
    expect(stored.readings).toHaveLength(published);
    const readRevision = async (one: typeof miner) =>
      (await one.json<{ revision: string }>(statisticsPath)).revision;
    // Views are computed once per second: a view may still be older than the last reading.
    await eventually(
      async () => (await readRevision(miner)) === (await readRevision(replica)),
      'the same statistics on both',
    );
    expect(await miner.end('SIGTERM')).toBe(0);
  });
});
