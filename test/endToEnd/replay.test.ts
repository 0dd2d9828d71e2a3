import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { readings } from '../../storage/tables/readings.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { replayHere } from '../support/processes/replayHere.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll, publishMany } from '../support/readings/readingMessages.ts';
import { allObservations, onDatabase, readStoredState } from '../support/storage/storedState.ts';

/** Three installations, with as much time between two readings as a round may have: the second universal day begins with the 2,161st. */
const intervalMs = 120_000;
const untilSecondDay = mixedPublications(2_250, 0, intervalMs);
const stream = 'MINER_COUNTER';

/** Saves a state that has lost the distance of each day, as a fault of an older version might have. */
async function damageState(database: Database) {
  const store = createSnapshotStore(database);
  const [newest] = await store.list(stream);
  if (newest === undefined) throw new Error('no state is saved');
  const records = [];
  for await (const some of store.read(newest))
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

describe('replay next to a running service', () => {
  const engine = useClickHouseEngine();

  async function startService() {
    const nats = await startNats();
    const clickhouseUrl = await engine.createDatabase();
    const settings = { natsUrl: nats.url, clickhouseUrl, dataDir: temporaryDirectory() };
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
      database: <Result>(work: (database: Database) => Promise<Result>) =>
        onDatabase({ url: clickhouseUrl }, work),
    };
  }

  it('changes pages, statistics and rows at once when it has ended, and nothing before', async () => {
    const { nats, start, replay, database } = await startService();
    const first = await start();
    const { connection } = await connectTo(nats);
    await publishAll(connection, untilSecondDay);
    await waitUntilFolded(first, untilSecondDay.length);
    const [right, rightSums] = [await readShown(first), await readSums(first)];
    // Its end stores all rows.
    await first.end('SIGTERM');
    const stored = await database(readStoredState);
    await database(damageState);
    await database((one) =>
      one.command(
        `ALTER TABLE ${readings.name} DELETE WHERE installation_id = 'wheel.one' AND position < 300 SETTINGS mutations_sync = 1`,
      ),
    );
    const miner = await start();
    const wrong = await readShown(miner);
    expect(wrong.one.length).toBeLessThan(right.one.length);
    expect(await readSums(miner)).not.toEqual(rightSums);

    const running = replay('--from-time', new Date(0).toISOString());
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
    await waitUntilFolded(miner, untilSecondDay.length + 30);
    expect((await readShown(miner)).two).toHaveLength(right.two.length + 10);
    await miner.end('SIGTERM');
  });

  it('is not used if the stream loses its end meanwhile', async () => {
    const { nats, start, replay, database, environment } = await startService();
    const first = await start();
    const { connection } = await connectTo(nats);
    await publishMany(connection, 'wheel.one', 0, 2_000);
    await waitUntilStored(first, 2_000);
    const before = await database(readStoredState);
    // The files of the stream at an earlier time.
    const store = join(nats.dir, 'store/jetstream/$G/streams', stream);
    const copy = join(temporaryDirectory(), 'copy');
    await nats.kill('SIGTERM');
    cpSync(store, copy, { recursive: true });
    await nats.start();
    const { connection: later } = await connectTo(nats);
    await publishMany(later, 'wheel.one', 2_000, 5_000);
    await waitUntilFolded(first, 5_000);
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
    const { jetStream } = await connectTo(nats);
    const again = await database((one) =>
      replayHere({ database: one, jetStream, environment, dryRun: false, streams: [stream] }),
    );
    expect(again).toMatch(
      /rows as folded again: .*, 2000 of stored_readings[\s\S]*the service has taken it over/,
    );
    expect(await database(readStoredState)).toEqual(before);
    await last.end('SIGTERM');
  });
});
