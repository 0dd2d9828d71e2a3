import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../storage/database.ts';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { findActiveTables } from '../../storage/generations.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import {
  fetchReadiness,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';

function startWith(natsUrl: string, clickhouseUrl: string) {
  return (role: 'ingest' | 'serve' | 'run', environment = {}) =>
    startMiner({ role, natsUrl, clickhouseUrl, dataDir: temporaryDirectory(), environment });
}

describe('several processes on one ClickHouse server', () => {
  const engine = useClickHouseEngine();

  it('ingest one at a time: killed, paused and stopped ones are replaced, and no row is lost', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const start = startWith(nats.url, clickhouse);
    const first = await start('ingest');
    await waitUntilReady(first);
    const second = await start('ingest');
    await eventually(async () => (await fetchReadiness(second)).standbyFor?.pid === first.pid, 'a standby');
    expect((await fetchReadiness(second)).waitingFor).toContain('the ingest lease');
    await publishAll(connection, mixedPublications(3_750));
    await waitUntilStored(first, 3_750);
    expect(await second.metric('miner_rows_flushed_position{stream="MINER_COUNTER"}')).toBeNull();

    // A process that has ended on this machine is replaced at once.
    await first.end('SIGKILL');
    await waitUntilReady(second);
    await publishAll(connection, mixedPublications(1_250, 3_750));
    await waitUntilStored(second, 5_000);

    const third = await start('ingest');
    await eventually(async () => (await fetchReadiness(third)).standbyFor?.pid === second.pid, 'a standby');
    second.child.kill('SIGSTOP');
    await waitUntilReady(third);
    await publishAll(connection, mixedPublications(1_000, 5_000));
    await waitUntilStored(third, 6_000);
    second.child.kill('SIGCONT');
    expect(await second.exited).toBe(1);
    // It may notice first either the lease or the epoch of the other process.
    expect(second.output()).toMatch(/has taken over the ingest|another process ingests into this database/);

    const fourth = await start('ingest');
    await eventually(async () => (await fetchReadiness(fourth)).standbyFor?.pid === third.pid, 'a standby');
    expect(await third.end('SIGTERM')).toBe(0);
    await waitUntilReady(fourth);
    await publishAll(connection, mixedPublications(500, 6_000));
    await waitUntilStored(fourth, 6_500);
    await fourth.end('SIGTERM');

    const alone = temporaryDirectory();
    const undisturbed = await startMiner({ natsUrl: nats.url, dataDir: alone });
    await waitUntilStored(undisturbed, 6_500);
    await undisturbed.end('SIGTERM');
    const [stored, expected] = [
      await storedState({ url: clickhouse }),
      await storedState({ path: `${alone}/clickhouse` }),
    ];
    expect(stored.readings).toEqual(expected.readings);
    expect(stored.rounds).toEqual(expected.rounds);
    expect(stored.buckets).toEqual(expected.buckets);
  });

  it('replace one that is cut off from NATS, which stores nothing more and ends once it sees that', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const proxy = await startCuttingProxy(nats.url.replace('nats:', 'http:'));
    const first = await startWith(proxy.url.replace('http:', 'nats:'), clickhouse)('ingest');
    await waitUntilReady(first);
    const second = await startWith(nats.url, clickhouse)('ingest');
    await eventually(async () => (await fetchReadiness(second)).standbyFor?.pid === first.pid, 'a standby');
    await publishAll(connection, mixedPublications(400));
    await waitUntilStored(first, 400);
    proxy.hold(true);
    await waitUntilReady(second);
    await publishAll(connection, mixedPublications(400, 400));
    await waitUntilStored(second, 800);
    proxy.hold(false);
    expect(await first.exited).toBe(1);
    expect(first.output()).toMatch(/has taken over the ingest|another process ingests into this database/);
    const database = openDatabase({ url: clickhouse });
    onTestFinished(() => database.close());
    const { readings } = await findActiveTables(database);
    const accepted = await second.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}');
    const rows = await database.select(
      `SELECT count(), uniqExact(position), max(position) FROM ${readings} FINAL`,
    );
    expect(accepted).toBeGreaterThan(0);
    expect(rows[0]?.[0]).toEqual(rows[0]?.[1]);
    expect(Number(rows[0]?.[2])).toBeGreaterThan(400);
  });

  it('show no page with a gap while the state is lost and everything is folded again', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection, jsm } = await connectTo(nats);
    const start = startWith(nats.url, clickhouse);
    const count = 20_000;
    const first = await start('ingest');
    await waitUntilReady(first);
    await publishAll(connection, mixedPublications(count));
    await waitUntilStored(first, count);
    const replica = await start('serve');
    await waitUntilReady(replica);
    const all = await allObservations(replica, 'wheel.one');
    await first.end('SIGTERM');

    // Another version of the fold finds rows without a matching state.
    const database = openDatabase({ url: clickhouse });
    const before = await findActiveTables(database);
    const snapshots = await database.select(`SELECT DISTINCT snapshot FROM ${before.foldSnapshots}`);
    for (const [name] of snapshots)
      await database.command(`ALTER TABLE ${before.foldSnapshots} DROP PARTITION '${name}'`);
    const { created: streamCreated } = await jsm.streams.info('MINER_COUNTER');
    const unknown = { foldVersion: 0, configuration: '', streamCreated };
    await noteGeneration(database, { ...unknown, generation: before.generation, atMs: Date.now() });

    const second = await start('ingest');
    const after = all[999]?.cursor as string;
    const expected = all.slice(1_000, 1_100).map(({ cursor }) => cursor);
    let pages = 0;
    await eventually(async () => {
      const path = `/v1/public/installations/wheel.one/observations?cursor=${after}`;
      const response = await fetch(`${replica.publicUrl}${path}`);
      if (response.status === 200) {
        const { items } = (await response.json()) as { items: { cursor: string }[] };
        expect(items.map(({ cursor }) => cursor)).toEqual(expected);
        pages++;
      } else expect(response.status).toBe(503);
      return (await findActiveTables(database)).generation > before.generation;
    }, 'the rebuilt generation');
    expect(pages).toBeGreaterThan(5);
    await eventually(
      async () => (await replica.metric('miner_table_generation')) === before.generation + 1,
      'the replica uses it',
    );
    await waitUntilReady(replica);
    expect(await allObservations(replica, 'wheel.one')).toEqual(all);
    await second.end('SIGTERM');
    await database.close();
  });
});
