import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { moduleSubject, signerSubject } from '../../actors/messages/subjects.ts';
import { routes } from '../../http/routes/routes.ts';
import { rejectionMessage } from '../../streams/pipeline/rejectionLog.ts';
import { genesisMs } from '../support/genesis.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import {
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import {
  mixedPublications,
  publishAll,
  readingMessage,
  toPublication,
} from '../support/readings/readingMessages.ts';
import { allObservations, readRejections, storedState } from '../support/storage/storedState.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

const engine = useClickHouseEngine();

describe('readings in, telemetry out', () => {
  it('shows what three installations publish, good and bad, on every route and in ClickHouse', async () => {
    const nats = await startNats();
    const dataDir = temporaryDirectory();
    const miner = await startMiner({ natsUrl: nats.url, dataDir });
    const connected = await connectTo(nats);
    const { connection, js, jsm } = connected;
    await waitUntilReady(miner);

    const publications = mixedPublications(2_400);
    await publishAll(connection, publications);
    await js.publish(
      moduleSubject('wheel.one', 'sensor.0'),
      JSON.stringify({
        instanceId: 'sensor.0',
        moduleType: 'wheel-sensor',
        driverId: 'hall',
        moduleVersion: '1.0.0',
        schemaVersion: 1,
        state: 'degraded',
        observedAt: new Date(genesisMs).toISOString(),
        provenance: 'hardware',
        health: { checkedAt: new Date(genesisMs).toISOString(), message: 'dust', code: null },
        data: { secret: true },
      }),
    );
    await js.publish(moduleSubject('wheel.one', 'sensor.1'), '{}');
    await js.publish(
      signerSubject('wheel.one'),
      JSON.stringify({
        kind: 'ed25519',
        algorithm: 'Ed25519',
        keySlot: '0',
        enrolledAt: new Date(genesisMs).toISOString(),
        lastVerifiedAt: new Date(genesisMs).toISOString(),
        lastSignature: 'c2lnbmVk',
      }),
    );
    await waitUntilStored(miner, 2_400);
    await waitUntilFolded(miner, 3, 'MINER_PIPELINE');

    for (const route of routes) {
      for (const installation of installations) {
        const body = await miner.json(examplePath(route).replace('wheel-1', installation));
        expect(route.response.parse(body)).toEqual(body);
      }
    }

    // The stream of rejections holds each bad message once, with its reason and bytes.
    const isBad = (number: number) => [40, 80, 120, 160, 200, 239].includes(number % 240);
    const expected = publications.flatMap((_, number) => (isBad(number) ? [number + 1] : []));
    await eventually(
      async () => (await readRejections(connected, 'MINER_COUNTER')).length >= expected.length,
      'all rejections',
    );
    const rejected = await readRejections(connected, 'MINER_COUNTER');
    expect(rejected.map(({ sequence }) => sequence)).toEqual(expected);
    expect(rejected.slice(0, 6).map(({ reason }) => reason)).toEqual([
      'malformed',
      'wrong_installation',
      'future_observation',
      'duplicate',
      'out_of_order',
      'counter_regression',
    ]);
    const first = await jsm.streams.getMessage('MINER_REJECTED', { seq: 1 });
    const message = rejectionMessage.parse(first?.json());
    expect(Buffer.from(message.original, 'base64').toString()).toBe(publications[40]?.body);
    expect(await readRejections(connected, 'MINER_PIPELINE')).toEqual([{ sequence: 2, reason: 'malformed' }]);

    // Telemetry is the last accepted reading, and it is old.
    const telemetry = await miner.json<Record<string, unknown>>('/v1/public/telemetry');
    expect(telemetry).toMatchObject({ installationId: 'wheel.one', status: 'stale' });
    expect(await miner.json('/v1/public/installations/nobody/telemetry')).toMatchObject({
      status: 'offline',
    });
    const status = await miner.json<{ modules: unknown[]; signer: unknown }>('/v1/status');
    expect(status.modules).toMatchObject([{ instanceId: 'sensor.0', state: 'degraded', data: {} }]);
    expect(status.signer).toMatchObject({ kind: 'ed25519' });

    // Observations are all accepted readings of an installation, in order.
    for (const [offset, installation] of installations.entries()) {
      const items = await allObservations(miner, installation);
      const accepted = publications
        .map((publication, number) => ({ publication, number }))
        .filter(({ number }) => number % 3 === offset && !isBad(number));
      expect(items.map(({ telemetryId }) => telemetryId)).toEqual(
        accepted.map(({ publication }) => JSON.parse(publication.body).telemetryId),
      );
      expect(items.map(({ cursor }) => Number(Buffer.from(cursor, 'base64url').toString()))).toEqual(
        accepted.map(({ number }) => number + 1),
      );
    }

    expect(await miner.end('SIGTERM')).toBe(0);
    const stored = await storedState({ path: join(dataDir, 'clickhouse') });
    expect(stored.readings).toHaveLength(2_400 - expected.length);
    expect(stored.rounds.length).toBeGreaterThan(30);
    expect(stored.buckets.length).toBeGreaterThan(9);
  });

  it('turns stale after 120 seconds and online with the next reading', async () => {
    const nats = await startNats();
    const miner = await startMiner({ natsUrl: nats.url, dataDir: temporaryDirectory() });
    const { connection } = await connectTo(nats);
    await waitUntilReady(miner);
    const at = (ms: number) => new Date(ms).toISOString();
    const nowMs = Date.now();
    const old = { observedAt: at(nowMs - 121_000), receivedAt: at(nowMs - 121_000) };
    await publishAll(connection, [toPublication(readingMessage('wheel.one', 1, old))]);
    await waitUntilFolded(miner, 1);
    expect(await miner.json('/v1/public/telemetry')).toMatchObject({ status: 'stale' });
    const stale = await miner.json<{ revision: string }>('/v4/public/process');
    await publishAll(connection, [
      toPublication(readingMessage('wheel.one', 2, { observedAt: at(nowMs), receivedAt: at(nowMs) })),
    ]);
    await waitUntilFolded(miner, 2);
    expect(await miner.json('/v1/public/telemetry')).toMatchObject({ status: 'online' });
    const online = await miner.json<{ revision: string; measurement: unknown }>('/v4/public/process');
    expect(online.measurement).toMatchObject({ freshness: 'online', cumulativeWorkUnits: '14' });
    expect(online.revision).not.toBe(stale.revision);
  });

  it('serves from a read replica what another process ingests', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const shared = { natsUrl: nats.url, clickhouseUrl: clickhouse };
    const ingest = await startMiner({ ...shared, role: 'ingest', dataDir: temporaryDirectory() });
    const { connection } = await connectTo(nats);
    await waitUntilReady(ingest);
    // The last message is rejected, so no row has its position.
    await publishAll(connection, mixedPublications(2_921));
    await waitUntilStored(ingest, 2_921);
    expect(await ingest.end('SIGTERM')).toBe(0);

    // The replica restores the writer's snapshot, then follows.
    const replica = await startMiner({ ...shared, role: 'serve', dataDir: temporaryDirectory() });
    await waitUntilReady(replica);
    expect(replica.log().some(({ msg, position }) => msg === 'snapshot restored' && position === 2_921)).toBe(
      true,
    );
    await publishAll(connection, mixedPublications(300, 2_921));
    await waitUntilFolded(replica, 3_221);
    const items = await allObservations(replica, 'wheel.one');
    expect(items.length).toBeGreaterThan(1_030);
    expect(new Set(items.map(({ telemetryId }) => telemetryId)).size).toBe(items.length);
  });
});
