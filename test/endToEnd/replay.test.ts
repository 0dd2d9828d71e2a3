import { expect, it } from 'vitest';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { readings } from '../../storage/tables/readings.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
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

const engine = useClickHouseEngine();

it('a replay changes pages, statistics and rows at once when it has ended, and nothing before', async () => {
  const [nats, clickhouseUrl] = [await startNats(), await engine.createDatabase()];
  const start = async () => {
    const miner = await startMiner({ natsUrl: nats.url, clickhouseUrl, dataDir: temporaryDirectory() });
    await waitUntilReady(miner);
    return miner;
  };
  const database = <Result>(work: (database: Database) => Promise<Result>) =>
    onDatabase({ url: clickhouseUrl }, work);
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

  const running = startMinerCommand(['replay', '--from-time', new Date(0).toISOString()], {
    MINER_NATS_URL: nats.url,
    MINER_CLICKHOUSE_URL: clickhouseUrl,
    MINER_DATA_DIR: temporaryDirectory(),
    MINER_DEPLOYMENT: writeDeployment(temporaryDirectory()),
  });
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
