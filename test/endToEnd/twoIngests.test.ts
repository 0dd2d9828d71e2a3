import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { readReadingsTtlDays } from '../../storage/rows/readingsTtl.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import {
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

const untilStandby = (miner: MinerProcess, holder: MinerProcess) =>
  eventually(async () => (await fetchReadiness(miner)).standbyFor?.pid === holder.pid, 'a standby');

/** Status of the readiness probe for orchestrators. */
const probe = ({ operatorUrl }: MinerProcess) =>
  startProcess(process.execPath, [resolve(import.meta.dirname, '../../dist/deploy/probeIngest.js')], {
    env: { MINER_OPS_PORT: new URL(operatorUrl).port },
  }).exited;

describe('processes on one ClickHouse server', () => {
  const engine = useClickHouseEngine();

  async function prepare() {
    const [nats, clickhouseUrl] = [await startNats(), await engine.createDatabase()];
    const start = (environment = {}) =>
      startMiner({
        role: 'ingest',
        natsUrl: nats.url,
        clickhouseUrl,
        dataDir: temporaryDirectory(),
        environment,
      });
    return { ...(await connectTo(nats)), clickhouseUrl, start };
  }

  it('ingest one at a time, and lose or repeat no row', async () => {
    const { connection, jsm, clickhouseUrl, start } = await prepare();
    const first = await start();
    await waitUntilReady(first);
    const second = await start({ MINER_RETENTION_DAYS: '2', MINER_READINGS_TTL_DAYS: '9999' });
    await untilStandby(second, first);
    const database = openDatabase({ url: clickhouseUrl });
    onTestFinished(() => database.close());
    const readDays = async () => {
      const { max_age } = (await jsm.streams.info('MINER_COUNTER')).config;
      return [max_age / 86_400e9, await readReadingsTtlDays(database)];
    };
    const other = await start({ MINER_STREAM_REPLICAS: '3' });
    await untilStandby(other, first);
    await other.end('SIGTERM');
    // A standby changes no setting.
    expect((await jsm.streams.info('MINER_LEASE')).config.num_replicas).toBe(1);
    expect(await readDays()).toEqual([0, 0]);
    expect((await fetchReadiness(second)).waitingFor).toContain('the ingest lease');
    expect([await probe(first), await probe(second)]).toEqual([0, 0]);
    await publishAll(connection, mixedPublications(1_500));
    await waitUntilStored(first, 1_500);
    // Rules of alerts find neither in a standby.
    for (const name of ['miner_rows_flushed_position{stream="MINER_COUNTER"}', 'miner_ready'])
      expect(await second.metric(name)).toBeNull();

    // A process that has ended on this machine is replaced at once.
    await first.end('SIGKILL');
    expect(await probe(first)).toBe(1);
    await waitUntilReady(second);
    expect(await readDays()).toEqual([2, 9_999]);
    await publishAll(connection, mixedPublications(500, 1_500));
    await waitUntilStored(second, 2_000);

    const third = await start();
    await untilStandby(third, second);
    second.child.kill('SIGSTOP');
    await waitUntilReady(third);
    await publishAll(connection, mixedPublications(400, 2_000));
    await waitUntilStored(third, 2_400);
    second.child.kill('SIGCONT');
    expect(await second.exited).toBe(1);
    // It may notice first either the lease or the epoch of the other process.
    expect(second.output()).toMatch(/has taken over the ingest|another process ingests into this database/);
    // Six messages of 240 are rejected.
    expect((await storedState({ url: clickhouseUrl })).readings).toHaveLength(2_400 - 60);
  });

  it('wait for a stream that is gone, and take or create nothing, until its loss is accepted', async () => {
    const { connection, jsm, clickhouseUrl, start } = await prepare();
    const first = await start();
    await waitUntilReady(first);
    await publishAll(connection, mixedPublications(240));
    await waitUntilStored(first, 240);
    const { config, created: folded } = await jsm.streams.info('MINER_COUNTER');
    await jsm.streams.delete('MINER_COUNTER');
    await jsm.streams.add(config as Parameters<typeof jsm.streams.add>[0]);
    const { created: found } = await jsm.streams.info('MINER_COUNTER');
    const lost = [{ stream: 'MINER_COUNTER', folded, found }];
    const untilLost = (miner: MinerProcess) =>
      eventually(async () => (await fetchReadiness(miner)).lostStreams?.length === 1, 'the loss');
    await untilLost(first);
    await first.end('SIGTERM');
    await jsm.streams.delete('MINER_LEASE');
    // Accepting the loss of another stream changes nothing.
    const waiting = await start({ MINER_LOST_STREAMS: `MINER_COUNTER@${found}` });
    await untilLost(waiting);
    expect(await fetchReadiness(waiting)).toMatchObject({ lostStreams: lost, waitingFor: ['the streams'] });
    await expect(jsm.streams.info('MINER_LEASE')).rejects.toThrow('stream not found');
    await waiting.end('SIGTERM');
    const readings = async () => (await storedState({ url: clickhouseUrl })).readings.length;
    expect(await readings()).toBe(240 - 6);
    const accepting = await start({ MINER_LOST_STREAMS: `MINER_COUNTER@${folded}` });
    await waitUntilReady(accepting);
    expect(await readings()).toBe(0);
  });
});
