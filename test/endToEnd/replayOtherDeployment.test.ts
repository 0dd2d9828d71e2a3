import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { findActiveTables } from '../../storage/generations.ts';
import { genesisMs } from '../support/genesis.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const engine = useClickHouseEngine();

it('a replay with another deployment removes no rows that are being read', async () => {
  const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
  const { connection } = await connectTo(nats);
  const settings = { natsUrl: nats.url, clickhouseUrl: clickhouse };
  const ingest = await startMiner({ ...settings, role: 'ingest', dataDir: temporaryDirectory() });
  await waitUntilReady(ingest);
  await publishAll(connection, mixedPublications(40_000));
  await waitUntilStored(ingest, 40_000);
  const dataDir = temporaryDirectory();
  const database = openDatabase({ url: clickhouse });
  const rows = async () => {
    const { readings } = await findActiveTables(database);
    const [row] = await database.select(`SELECT uniqExact(position) FROM ${readings}`);
    return Number(row?.[0]);
  };
  const tablesBefore = await findActiveTables(database);
  const before = await rows();
  let least = before;
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      least = Math.min(least, await rows());
      await sleep(20);
    }
  })();
  // The deployment file has another genesis, as in a next version or by mistake.
  const replay = await minerCommand(['replay', '--from-sequence', '1'], {
    MINER_NATS_URL: nats.url,
    MINER_DATA_DIR: dataDir,
    MINER_CLICKHOUSE_URL: clickhouse,
    MINER_DEPLOYMENT: writeDeployment(dataDir, {}, genesisMs - 1_800_000),
  });
  isWatching = false;
  await watching;
  // Every second the service checks for replaced tables, and would remove rows then.
  expect(await findActiveTables(database)).toEqual(tablesBefore);
  await database.close();
  expect({ status: replay.status, least }).toEqual({ status: 1, least: before });
  expect(replay.output).toContain('made with another version or another deployment file');
});
