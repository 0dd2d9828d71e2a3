import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { findActiveTables } from '../../storage/generations.ts';
import { readRowsTtlDays } from '../../storage/rowsTtl.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { genesisMs } from '../support/genesis.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import {
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const waitForLog = (miner: MinerProcess, text: string) =>
  eventually(() => miner.log().find(({ msg }) => String(msg).includes(text)), text, 60_000);

describe('a process next to the one that ingests', () => {
  const engine = useClickHouseEngine();

  it('changes no settings of streams and tables while it waits as a standby, and does once it ingests', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { jsm } = await connectTo(nats);
    const start = (environment = {}) =>
      startMiner({
        role: 'ingest',
        natsUrl: nats.url,
        clickhouseUrl: clickhouse,
        dataDir: temporaryDirectory(),
        environment,
      });
    const first = await start();
    await waitUntilReady(first);
    const isStandby = (miner: MinerProcess) =>
      eventually(async () => (await fetchReadiness(miner)).standbyFor?.pid === first.pid, 'a standby');
    const other = await start({ MINER_STREAM_REPLICAS: '3' });
    await isStandby(other);
    expect((await jsm.streams.info('MINER_LEASE')).config.num_replicas).toBe(1);
    await other.end('SIGTERM');
    const second = await start({ MINER_RETENTION_DAYS: '1', MINER_ROWS_TTL_DAYS: '40' });
    await isStandby(second);
    const database = openDatabase({ url: clickhouse });
    const settings = async () => {
      const { readings, chainEvents } = await findActiveTables(database);
      const ttls = [readings, chainEvents.times].map((table) => readRowsTtlDays(database, table));
      return [(await jsm.streams.info('MINER_COUNTER')).config.max_age, ...(await Promise.all(ttls))];
    };
    expect(await settings()).toEqual([0, 0, 0]);
    expect(await first.end('SIGTERM')).toBe(0);
    await waitUntilReady(second);
    expect(await settings()).toEqual([86_400 * 1e9, 40, 40]);
    await database.close();
  });

  it.each([
    [
      'has begun a later epoch',
      `INSERT INTO ${ingestEpochs.name} VALUES (99, 'another', 0)`,
      'another process ingests into this database',
    ],
    [
      'has emptied the database, or restored a backup of it,',
      `TRUNCATE TABLE ${ingestEpochs.name}`,
      'the database was emptied or restored from a backup',
    ],
  ])('that %s makes the previous one end', async (_what, statement, message) => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const first = await startMiner({
      role: 'ingest',
      natsUrl: nats.url,
      clickhouseUrl: clickhouse,
      dataDir: temporaryDirectory(),
    });
    await waitUntilReady(first);
    // Simulates a process that knows the database by another name.
    const database = openDatabase({ url: clickhouse });
    await database.command(statement);
    await publishAll(connection, mixedPublications(100));
    await waitUntilStored(first, 100);
    expect(await first.exited).toBe(1);
    expect(first.output()).toContain(message);
    await database.close();
  });
});

describe('a process that another one has replaced', () => {
  it('ends in order when it is stopped before it notices', async () => {
    const nats = await startNats();
    const { connection, js, jsm } = await connectTo(nats);
    const miner = await startMiner({ natsUrl: nats.url, dataDir: temporaryDirectory() });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(100));
    await waitUntilStored(miner, 100);
    miner.child.kill('SIGSTOP');
    const holder = { host: 'another', pid: 1, pidSpace: null };
    const { state } = await jsm.streams.info('MINER_LEASE', { subjects_filter: '>' });
    const [subject = ''] = Object.keys(state.subjects ?? {});
    await js.publish(subject, JSON.stringify({ id: 'another', holder }));
    // Its clock runs on for longer than it may write without a renewal, so it cannot save its state.
    await sleep(5_000);
    miner.child.kill('SIGTERM');
    miner.child.kill('SIGCONT');
    expect([await miner.exited, miner.log().at(-1)?.msg]).toEqual([0, 'stopped']);
  });
});

describe('a rebuild', () => {
  it('keeps the rows of messages that leave the stream while it starts', async () => {
    let published = 30_000;
    const { connection: connected, settings } = await foldAndStop(({ connection: publisher }) =>
      publishAll(publisher, mixedPublications(published)),
    );
    const { connection, jsm } = connected;
    const { config } = await jsm.streams.info('MINER_COUNTER');
    await jsm.streams.update('MINER_COUNTER', { ...config, max_msgs: 20_000 });
    // Like retention by time: each new message removes an old one.
    let isLive = true;
    const live = (async () => {
      while (isLive) {
        await publishAll(connection, mixedPublications(50, published));
        published += 50;
        await sleep(25);
      }
    })();
    const second = await startMiner({ ...settings, startMs: genesisMs - 1_800_000 });
    await waitForLog(second, 'the rebuilt generation is the active one');
    isLive = false;
    await live;
    await waitUntilStored(second, published);
    await second.end('SIGTERM');
    const database = openDatabase({ path: join(settings.dataDir, 'clickhouse') });
    const { generation, readings } = await findActiveTables(database);
    const positions = async (table: string) =>
      (
        await database.select(
          `SELECT DISTINCT position FROM ${table} WHERE position <= 30000 ORDER BY position`,
        )
      ).map(([position]) => Number(position));
    const [before, after] = [await positions('readings_g1'), new Set(await positions(readings))];
    const lost = before.filter((position) => !after.has(position));
    await database.close();
    expect({ generation, lost: [lost.length, lost[0], lost.at(-1)] }).toEqual({
      generation: 2,
      lost: [0, undefined, undefined],
    });
  });
});
