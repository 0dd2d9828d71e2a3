import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { replay } from '../../deploy/commands/replay/replay.ts';
import { prepareReplay } from '../../deploy/commands/replay/replayOptions.ts';
import type { StreamPlace } from '../../deploy/commands/replay/replayPlan.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { type Lineage, readLineage } from '../../storage/runs/lineages.ts';
import { readSnapshotRecords } from '../../storage/snapshots/readSnapshotRecords.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { genesisMs } from '../support/genesis.ts';
import { hideProgress } from '../support/hideProgress.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  readDeployment,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats, type TestConnection } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll, publishMany } from '../support/readings/readingMessages.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { allObservations, readStoredState, storedState } from '../support/storage/storedState.ts';

/** Three installations, with as much time between two readings as a round may have: the second universal day begins with the 2,161st. */
const intervalMs = 120_000;
const untilSecondDay = mixedPublications(2_250, 0, intervalMs);
const stream = 'MINER_COUNTER';

/** Runs a service until published readings are stored, stops it, and returns ways to run commands on its data. */
async function foldPublished(publish: (connection: TestConnection) => Promise<void>) {
  const { connection, settings, last, onDatabase, environment } = await foldAndStop(publish);
  return {
    nats: connection,
    last,
    environment,
    restart: () => startMiner(settings),
    replay: (...args: string[]) => minerCommand(['replay', ...args], environment),
    replayHere: (database: Database, request: HereRequest) =>
      replayHere(database, connection, environment, request),
    state: () => onDatabase(readStoredState),
    database: onDatabase,
  };
}

interface HereRequest {
  readonly from?: StreamPlace;
  readonly dryRun?: boolean;
}

/** What the command does, in this process. Returns what it says. */
async function replayHere(
  database: Database,
  { jetStream }: TestConnection,
  environment: Record<string, string>,
  { from = { sequence: 1 }, dryRun = false }: HereRequest,
): Promise<string> {
  const said: string[] = [];
  const options = {
    ...{ jetStream, database, dryRun, logger: silentLogger },
    deployment: readDeployment(environment),
    signal: new AbortController().signal,
    print: (line: string) => said.push(line),
  };
  await prepareReplay(options);
  await hideProgress(() => replay(options, { streams: [stream], from }));
  return said.map((line) => `${line}\n`).join('');
}

/** Stored rows of one installation on the second universal day. */
const ofSecondDay = `installation_id = 'wheel.one' AND start >= fromUnixTimestamp64Milli(${genesisMs + 86_400_000}, 'UTC')`;

/** Removes rows, as a fault of an older version might have. */
const damage = (database: Database, table: string, condition: string) =>
  database.command(`ALTER TABLE ${table} DELETE WHERE ${condition} SETTINGS mutations_sync = 1`);

/** Saves a state that has lost the distance of each day, as a fault of an older version might have. */
async function damageState(database: Database) {
  const store = createSnapshotStore(database);
  const [newest] = await store.list(stream);
  if (newest === undefined) throw new Error('no state is saved');
  const records = [];
  for await (const some of readSnapshotRecords(store, newest))
    for (const record of some)
      records.push(
        record.kind === 'day'
          ? { ...record, value: record.value.replace(/^(\[\d+,\d+,[^,]+),\d+,/, '$1,0,') }
          : record,
      );
  await store.save({ ...newest, takenAtMs: newest.takenAtMs + 1 }, records, () => true);
}

/** The observations that clients see. */
async function readShown(miner: MinerProcess) {
  const observations = async (id: string) =>
    (await allObservations(miner, id)).map(({ telemetryId }) => telemetryId);
  return { one: await observations('wheel.one'), two: await observations('wheel:two') };
}

/** The sums of all days, without those that change with the clock. */
async function readSums(miner: MinerProcess) {
  const { lifetime } = await miner.json<{
    lifetime: { acceptedWorkUnits: string; observedDistanceMm: string; activeDayCount: number };
  }>('/v1/measurement/stats?range=7d');
  const { acceptedWorkUnits, observedDistanceMm, activeDayCount } = lifetime;
  return { acceptedWorkUnits, observedDistanceMm, activeDayCount };
}

const readCounting = (database: Database): Promise<Lineage | null> => readLineage(database, stream);

describe('replay', () => {
  it('reports changes, which the next start shows', async () => {
    const world = await foldPublished(({ connection }) => publishAll(connection, untilSecondDay));
    const { replay, database, restart, last } = world;
    /** The rows and the history that count. */
    const readRows = async (one: Database) => [await readStoredState(one), await readCounting(one)] as const;
    const { before, damaged } = await database(async (one) => {
      const before = await readStoredState(one);
      await damage(one, rounds.name, ofSecondDay);
      await damage(one, rounds.name, "installation_id = 'wheel:two'");
      const rows = await readRows(one);
      const dry = await world.replayHere(one, { dryRun: true });
      expect(dry).toMatch(
        /, a dry run\n(?:.*\n)*stored_rounds differs: [1-9]\d* of \d+ rows are missing, and 0 rows/,
      );
      expect(dry).toMatch(/\nrows as folded again: .*, 2194 of stored_readings\n/);
      expect(dry).toContain('rebuild it from the stream: `npm run miner -- replay --from-sequence ');
      expect(await readRows(one)).toEqual(rows);
      return { before, damaged: rows };
    });
    expect(damaged[0].rounds.length).toBeLessThan(before.rounds.length);

    const real = await replay('--from-time', new Date(genesisMs).toISOString());
    expect([real.status, real.output]).toEqual([0, expect.stringContaining('stored_rounds differs: ')]);
    expect(real.output).toContain('the result is complete');
    expect(await database(readRows)).toEqual(damaged);

    const miner = await restart();
    await waitUntilReady(miner);
    expect(miner.log()).toContainEqual(
      expect.objectContaining({ stream, cause: 'replayed', position: last, msg: 'history noted' }),
    );
    expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}')).toBe(0);
    expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="rejected"}')).toBe(0);
    expect(await miner.end('SIGTERM')).toBe(0);
    await database(async (one) => expect(await readStoredState(one)).toEqual(before));
  });

  it('begins anew after it was stopped or killed, and says what prevents it', async () => {
    // So many that a signal comes before they are all folded again.
    const world = await foldPublished(({ connection }) => publishMany(connection, 'wheel.one', 0, 6_000));
    const { replay, state, environment, database, nats, restart } = world;
    const { before, damaged, counting } = await database(async (one) => {
      const sound = await readStoredState(one);
      await damage(one, readings.name, 'position >= 100 AND position < 200');
      return { before: sound, damaged: await readStoredState(one), counting: await readCounting(one) };
    });
    const start = () => startMinerCommand(['replay', '--from-sequence', '5'], environment);
    const begun = `replay of ${stream} through message 6000, from the beginning on`;
    const stopped = start();
    await stopped.written(begun);
    expect(await stopped.end('SIGINT')).toBe(0);
    expect(stopped.output()).toContain(
      'stopped: what is read has not changed, and the same command begins again',
    );
    const killed = start();
    await killed.written(begun);
    // Paused, so that it cannot end before the other one has started.
    killed.child.kill('SIGSTOP');
    const beside = await replay('--from-sequence', '5');
    expect([beside.status, beside.output]).toEqual([1, expect.stringMatching(/in use by process/)]);
    await killed.end('SIGKILL');
    const late = start();
    await late.written('stored_readings differs: 100 of 6000 rows are missing');
    await late.end('SIGKILL');
    expect(await state()).toEqual(damaged);
    await database(async (one) => {
      const done = await world.replayHere(one, { from: { sequence: 5 } });
      expect(done).toContain(begun);
      expect(await readCounting(one)).toEqual(counting);
    });
    const miner = await restart();
    await waitUntilReady(miner);
    expect(await miner.end('SIGTERM')).toBe(0);
    expect(await state()).toEqual(before);

    const noTime = await replay('--from-time', 'yesterday');
    expect([noTime.status, noTime.output]).toEqual([1, expect.stringContaining('such as 2026-11-21')]);
    await nats.jsm.streams.purge(stream, { seq: 3_001 });
    const refused = await replay();
    expect([refused.status, refused.output]).toEqual([
      1,
      expect.stringContaining(`${stream}: messages through 3000 have left the stream`),
    ]);
  });
});

describe('replay next to a running service', () => {
  const engine = useClickHouseEngine();

  async function startService() {
    const nats = await startNats();
    const clickhouseUrl = await engine.createDatabase();
    const dataDir = temporaryDirectory();
    const settings = {
      natsUrl: nats.url,
      clickhouseUrl,
      dataDir,
    };
    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_CLICKHOUSE_URL: clickhouseUrl,
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_DEPLOYMENT: writeDeployment(temporaryDirectory()),
    };
    const start = async () => {
      const miner = await startMiner(settings);
      await waitUntilReady(miner);
      return miner;
    };
    return {
      nats,
      start,
      environment,
      replay: (...args: string[]) => startMinerCommand(['replay', ...args], environment),
      state: () => storedState({ url: clickhouseUrl }),
      database: async <Result>(work: (database: Database) => Promise<Result>) => {
        const database = openDatabase({ url: clickhouseUrl });
        return work(database).finally(() => database.close());
      },
    };
  }

  it('changes pages, statistics and rows at once when it has ended, and nothing before', async () => {
    const { nats, start, replay, database, environment } = await startService();
    const first = await start();
    const connected = await connectTo(nats);
    const { connection } = connected;
    await publishAll(connection, untilSecondDay);
    await waitUntilStored(first, untilSecondDay.length);
    const [right, rightSums] = [await readShown(first), await readSums(first)];
    const stored = await database(readStoredState);
    await first.end('SIGTERM');
    await database(damageState);
    await database((one) => damage(one, readings.name, "installation_id = 'wheel.one' AND position < 300"));
    const miner = await start();
    const wrong = await readShown(miner);
    expect(wrong.one.length).toBeLessThan(right.one.length);
    expect(await readSums(miner)).not.toEqual(rightSums);

    const running = replay('--from-sequence', '1');
    let isRunning = true;
    const ended = running.exited.finally(() => {
      isRunning = false;
    });
    // A read sees what was there before or what is there now, and nothing in between.
    const reads: string[] = [];
    while (isRunning) {
      const shown = await readShown(miner);
      expect(shown.two).toEqual(right.two);
      reads.push(JSON.stringify(shown.one));
    }
    expect([await ended, running.output()]).toEqual([
      0,
      expect.stringContaining('the result counts now: the service has taken it over'),
    ]);
    for (const read of reads) expect([JSON.stringify(wrong.one), JSON.stringify(right.one)]).toContain(read);
    // Statistics are shown again once what has come since is folded, too.
    const sums = await eventually(() => readSums(miner).catch(() => null), 'the sums');
    expect([await readShown(miner), sums]).toEqual([right, rightSums]);
    expect(await database(readStoredState)).toEqual(stored);

    await publishAll(connection, mixedPublications(30, untilSecondDay.length, intervalMs));
    await waitUntilStored(miner, untilSecondDay.length + 30);
    expect((await readShown(miner)).two).toHaveLength(right.two.length + 10);
    // The end saves the state.
    await miner.end('SIGTERM');
    const next = await start();
    const from = { sequence: untilSecondDay.length + 5 };
    const later = await database((one) => replayHere(one, connected, environment, { from }));
    expect(later).toMatch(
      /^replay of MINER_COUNTER through message 2280, from the state that is saved at 2250 on\n30 messages folded .*\nrows as folded again: .*, 30 of stored_readings\nstate as folded again: \d+ records\n.*the service has taken it over/,
    );
    await next.end('SIGTERM');
  });

  it('is not used if the stream loses its end meanwhile', async () => {
    const { nats, start, replay, state } = await startService();
    const first = await start();
    const { connection } = await connectTo(nats);
    await publishMany(connection, 'wheel.one', 0, 2_000);
    await waitUntilStored(first, 2_000);
    const before = await state();
    // The files of the stream at an earlier time.
    const store = join(nats.dir, 'store/jetstream/$G/streams', stream);
    const copy = join(temporaryDirectory(), 'copy');
    await nats.kill('SIGTERM');
    cpSync(store, copy, { recursive: true });
    await nats.start();
    const { connection: later } = await connectTo(nats);
    await publishMany(later, 'wheel.one', 2_000, 5_000);
    await waitUntilStored(first, 5_000);
    await first.end('SIGTERM');
    const miner = await start();
    const running = replay('--from-sequence', '1');
    await running.written('replay of MINER_COUNTER');
    running.child.kill('SIGSTOP');
    await nats.kill('SIGTERM');
    rmSync(store, { recursive: true });
    cpSync(copy, store, { recursive: true });
    await nats.start();
    const divergences = `miner_stream_divergences_total{stream="${stream}"}`;
    await eventually(async () => Number(await miner.metric(divergences)) > 0, 'the divergence');
    await waitUntilFolded(miner, 2_000);
    running.child.kill('SIGCONT');
    expect([await running.exited, running.output()]).toEqual([
      1,
      // ClickHouse may have closed the connection of a process that was stopped for so long.
      expect.stringMatching(/has lost messages|the result is not used|socket hang up/),
    ]);
    await miner.end('SIGTERM');
    const last = await start();
    const again = replay();
    expect([await again.exited, again.output()]).toEqual([
      0,
      expect.stringMatching(
        /rows as folded again: .*, 2000 of stored_readings[\s\S]*the service has taken it over/,
      ),
    ]);
    expect(await state()).toEqual(before);
    await last.end('SIGTERM');
  });
});
