import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import {
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

/** Short, so that readiness reacts soon. */
const environment = { MINER_READY_GRACE_SECONDS: '3' };

/** Waits until the service names exactly these as missing. */
function waitUntilWaitingFor(miner: MinerProcess, ...names: string[]) {
  return eventually(
    async () => {
      const { waitingFor } = await fetchReadiness(miner);
      return names.every((name) => waitingFor.includes(name)) && waitingFor.length === names.length;
    },
    `waiting for ${names.join(', ')}`,
  );
}

const lagMetric = 'miner_stream_lag_messages{stream="MINER_COUNTER"}';

const engine = useClickHouseEngine();

describe('readiness', () => {
  it('ends while NATS is unavailable, names it, and returns; the lag is unknown meanwhile, and routes answer', async () => {
    const nats = await startNats();
    const { connection } = await connectTo(nats);
    const miner = await startMiner({ natsUrl: nats.url, dataDir: temporaryDirectory(), environment });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(200));
    await waitUntilStored(miner, 200);
    expect(await miner.metric(lagMetric)).toBe(0);
    await nats.kill();
    await waitUntilWaitingFor(miner, 'NATS', 'MINER_COUNTER', 'MINER_PIPELINE');
    expect((await fetchReadiness(miner)).streams.MINER_COUNTER?.lag).toBeNull();
    expect(await miner.metric(lagMetric)).toBeNull();
    // The ages of the last verification and of the newest reading grow.
    expect(
      await miner.metric('miner_stream_verification_age_seconds{stream="MINER_COUNTER"}'),
    ).toBeGreaterThan(3);
    expect(await miner.metric('miner_stream_freshness_age_seconds{stream="MINER_COUNTER"}')).toBeGreaterThan(
      3,
    );
    expect(await miner.metric('miner_newest_reading_age_seconds')).toBeGreaterThan(3);
    expect((await fetch(`${miner.publicUrl}/readyz`)).status).toBe(503);
    expect((await fetch(`${miner.publicUrl}/healthz`)).status).toBe(200);
    expect((await fetch(`${miner.publicUrl}/v1/public/telemetry`)).status).toBe(200);
    await nats.start();
    await waitUntilReady(miner);
    // Messages may be lost while the client reconnects.
    await eventually(async () => (await connection.rtt()) >= 0, 'a connection');
    await publishAll(connection, mixedPublications(50, 200));
    await waitUntilFolded(miner, 250);
  });

  it('ends while a stream without stored rows is missing, which is created again', async () => {
    const nats = await startNats();
    const { connection, jsm } = await connectTo(nats);
    const miner = await startMiner({ natsUrl: nats.url, dataDir: temporaryDirectory(), environment });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(200));
    await waitUntilStored(miner, 200);
    for (const stream of ['MINER_PIPELINE', 'MINER_REJECTED']) await jsm.streams.delete(stream);
    await eventually(async () => (await jsm.streams.info('MINER_PIPELINE')).state.last_seq === 0, 'a stream');
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(50, 200));
    await waitUntilStored(miner, 250);
    expect((await jsm.streams.info('MINER_REJECTED')).config.subjects).toEqual(['miner.rejected.*']);
  });

  it('is reached over streams whose last messages are gone: purged, deleted one by one, or all of them', async () => {
    const nats = await startNats();
    const { connection, jsm } = await connectTo(nats);
    await createRemovableStreams(jsm);
    const dataDir = temporaryDirectory();
    const miner = await startMiner({ natsUrl: nats.url, dataDir, environment });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(30));
    await waitUntilStored(miner, 30);
    await miner.end('SIGTERM');
    await publishAll(connection, mixedPublications(20, 30));
    for (const sequence of [46, 47, 48, 49, 50]) await jsm.streams.deleteMessage('MINER_COUNTER', sequence);
    const second = await startMiner({ natsUrl: nats.url, dataDir, environment });
    await waitUntilReady(second);
    await waitUntilStored(second, 50);
    await second.end('SIGTERM');
    await publishAll(connection, mixedPublications(20, 50));
    await jsm.streams.purge('MINER_COUNTER');
    const third = await startMiner({ natsUrl: nats.url, dataDir, environment });
    await waitUntilReady(third);
    await waitUntilStored(third, 70);
    expect((await fetch(`${third.publicUrl}/v2/public/stats?range=7d`)).status).toBe(200);
    // While it runs, too.
    await publishAll(connection, mixedPublications(5, 70));
    await jsm.streams.purge('MINER_COUNTER');
    await waitUntilStored(third, 75);
    await third.end('SIGTERM');
    const fourth = await startMiner({ natsUrl: nats.url, dataDir, environment });
    await waitUntilReady(fourth);
    await waitUntilStored(fourth, 75);
  });

  it('ends while ClickHouse answers but accepts no rows', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const database = openDatabase({ url: clickhouse });
    onTestFinished(() => database.close());
    const settings = { natsUrl: nats.url, clickhouseUrl: clickhouse, environment };
    const miner = await startMiner({ ...settings, dataDir: temporaryDirectory() });
    await waitUntilReady(miner);
    await database.command('RENAME TABLE readings_g1 TO readings_moved');
    await publishAll(connection, mixedPublications(100));
    await waitUntilWaitingFor(miner, 'ClickHouse');
    expect((await fetchReadiness(miner)).clickhouse).toBe('refusing rows');
    expect((await fetch(`${miner.publicUrl}/v1/public/telemetry`)).status).toBe(200);
    await database.command('RENAME TABLE readings_moved TO readings_g1');
    await waitUntilReady(miner);
    await waitUntilStored(miner, 100);
  });

  it('ends once ClickHouse has not answered for longer than the grace, and returns', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const settings = { natsUrl: nats.url, clickhouseUrl: clickhouse, dataDir: temporaryDirectory() };
    const miner = await startMiner({ ...settings, environment: { MINER_READY_GRACE_SECONDS: '5' } });
    await waitUntilReady(miner);
    await engine.kill();
    const noticed = await eventually(async () => {
      const readiness = await fetchReadiness(miner);
      return readiness.clickhouse === 'unavailable' && readiness;
    }, 'the outage is noticed');
    expect([noticed.status, noticed.waitingFor]).toEqual(['ready', []]);
    expect(await miner.metric('miner_ready')).toBe(1);
    await waitUntilWaitingFor(miner, 'ClickHouse');
    expect(await miner.metric('miner_ready')).toBe(0);
    await engine.start();
    await waitUntilReady(miner);
  });

  it('ends while a rejection cannot be published, behind which rows wait', async () => {
    const nats = await startNats();
    const { connection, js, jsm } = await connectTo(nats);
    const miner = await startMiner({ natsUrl: nats.url, dataDir: temporaryDirectory(), environment });
    await waitUntilReady(miner);
    const { config } = await jsm.streams.info('MINER_REJECTED');
    await jsm.streams.update('MINER_REJECTED', { ...config, max_msg_size: 1 });
    await js.publish('miner.counter.my~wheel', 'not JSON');
    await publishAll(connection, mixedPublications(20));
    await waitUntilWaitingFor(miner, 'MINER_REJECTED');
    expect((await fetch(`${miner.publicUrl}/readyz`)).status).toBe(503);
    expect((await fetch(`${miner.publicUrl}/v1/public/telemetry`)).status).toBe(200);
    expect(await miner.metric('miner_rows_flushed_position{stream="MINER_COUNTER"}')).toBe(0);
    await jsm.streams.update('MINER_REJECTED', config);
    await waitUntilReady(miner);
    await waitUntilStored(miner, 21);
  });

  it.skipIf(!clickHouseServerAvailable())(
    'is never reached with a ClickHouse server that is too old, which ends the process as an invalid setting does',
    async () => {
      const [nats, server] = [await startNats(), await startClickHouseServer()];
      const settings = { natsUrl: nats.url, clickhouseUrl: server.url, dataDir: temporaryDirectory() };
      for (const role of ['ingest', 'serve'] as const) {
        const miner = await startMiner({ ...settings, role });
        expect(await miner.exited).toBe(2);
        expect(miner.output()).toMatch(/is version 18\.16\.[\d.]+; expected 24\.8 or newer/);
      }
    },
  );
});
