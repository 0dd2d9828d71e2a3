import { describe, expect, it } from 'vitest';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import {
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

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

const engine = useClickHouseEngine();

describe('readiness', () => {
  it('ends while ClickHouse or NATS is silent for longer than the grace', async () => {
    const [nats, clickhouseUrl] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const settings = { natsUrl: nats.url, clickhouseUrl, dataDir: temporaryDirectory() };
    const miner = await startMiner({ ...settings, environment: { MINER_READY_GRACE_SECONDS: '5' } });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(1_000));
    await waitUntilFolded(miner, 1_000);
    await engine.kill();
    const noticed = await eventually(async () => {
      const readiness = await fetchReadiness(miner);
      return readiness.clickhouse === 'unavailable' && readiness;
    }, 'the outage is noticed');
    expect([noticed.status, noticed.waitingFor]).toEqual(['ready', []]);
    expect(await miner.metric('miner_ready')).toBe(1);
    // More than the buffer holds: the stream is read no further, and no message is dropped.
    await publishAll(connection, mixedPublications(44_000, 1_000));
    await waitUntilWaitingFor(miner, 'ClickHouse', 'MINER_COUNTER');
    expect(await miner.metric('miner_ready')).toBe(0);
    expect(await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')).toBeLessThan(44_000);
    const saidOfRows = () =>
      miner.log().filter(({ msg }) => /^rows are (?:not stored|stored again)/.test(`${msg}`));
    await eventually(() => saidOfRows().length > 0, 'rows that wait');
    await engine.start();
    await waitUntilReady(miner);
    await waitUntilStored(miner, 45_000);
    const { readings } = await storedState({ url: clickhouseUrl });
    const accepted = await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}');
    expect(readings).toHaveLength(accepted ?? 0);
    expect(readings.length).toBeGreaterThan(43_000);
    expect(saidOfRows()).toHaveLength(2);
    await nats.kill();
    await waitUntilWaitingFor(miner, 'NATS', 'MINER_COUNTER', 'MINER_PIPELINE');
    const status = async (path: string) => (await fetch(`${miner.publicUrl}${path}`)).status;
    expect([await status('/readyz'), await status('/v1/public/telemetry')]).toEqual([503, 200]);
    await nats.start();
    await waitUntilReady(miner);
  });

  it.skipIf(!clickHouseServerAvailable())(
    'is never reached with a ClickHouse server that is too old',
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
