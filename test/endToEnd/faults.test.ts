import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import {
  ask,
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats, type TestNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, type Publication, publishAll } from '../support/readings/readingMessages.ts';
import { allObservations, readRejections, storedState } from '../support/storage/storedState.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

/** Rejected messages among the first `count` of mixedPublications. */
function listRejectedSequences(count: number): number[] {
  const isBad = (number: number) => [40, 80, 120, 160, 200, 239].includes(number % 240);
  return Array.from({ length: count }, (_, number) => number).flatMap((number) =>
    isBad(number) ? [number + 1] : [],
  );
}

/** A service that is ready, and a connection to its nats-server. */
async function startReady() {
  const nats = await startNats();
  const connected = await connectTo(nats);
  await createRemovableStreams(connected.jsm);
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  return { nats, ...connected, dataDir, miner };
}

async function readShown(miner: MinerProcess) {
  const observations = await Promise.all(installations.map((one) => allObservations(miner, one)));
  const telemetry = await Promise.all(
    installations.map((one) => miner.json(`/v1/public/installations/${one}/telemetry`)),
  );
  return { observations, telemetry };
}

/** Stored state of an undisturbed service on the same streams; `look` asks that service before it stops. */
async function runUndisturbed(
  nats: TestNats,
  through: number,
  look: (miner: MinerProcess) => Promise<void> = async () => undefined,
) {
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilStored(miner, through);
  await look(miner);
  await miner.end('SIGTERM');
  return await storedState({ path: join(dataDir, 'clickhouse') });
}

/** Stops a disturbed service, and expects the same shown and stored state as from an undisturbed one. */
async function expectLikeUndisturbed(miner: MinerProcess, dataDir: string, nats: TestNats, through: number) {
  const views = await readShown(miner);
  await miner.end('SIGTERM');
  const expected = await runUndisturbed(nats, through, async (other) =>
    expect(views).toEqual(await readShown(other)),
  );
  expect(await storedState({ path: join(dataDir, 'clickhouse') })).toEqual(expected);
}

/** Polls a route until it is stopped. Every request must get an answer. */
function poll(miner: MinerProcess) {
  const statuses = new Map<number, number>();
  let isOn = true;
  const running = (async () => {
    while (isOn) {
      const { status } = await ask(`${miner.publicUrl}/v4/public/process`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  return {
    stop: async () => {
      isOn = false;
      await running;
      return [...statuses.keys()];
    },
  };
}

/** Publishes a little at a time, as devices do, so that a kill comes in the middle. */
async function publishSteadily(connection: NatsConnection, publications: readonly Publication[]) {
  for (let from = 0; from < publications.length; from += 100)
    await publishAll(connection, publications.slice(from, from + 100));
}

describe('killed with SIGKILL', () => {
  it('in the middle of a burst of readings, it ends like an uninterrupted run', async () => {
    // There is a snapshot only every minute. Without one, the entire stream is folded again over stored rows.
    const { nats, dataDir, miner: first, ...connected } = await startReady();
    let miner = first;
    const count = 12_000;
    const publishing = publishSteadily(connected.connection, mixedPublications(count));
    for (const position of [2_000, 6_000]) {
      await eventually(
        async () => ((await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')) ?? 0) > position,
        `folding beyond ${position}`,
      );
      await miner.end('SIGKILL');
      miner = await startMiner({ natsUrl: nats.url, dataDir });
    }
    await publishing;
    await waitUntilStored(miner, count);
    // A clean stop leaves a snapshot: the next start begins there.
    await miner.end('SIGTERM');
    miner = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilReady(miner);
    expect(miner.log().some(({ msg, position }) => msg === 'snapshot restored' && position === count)).toBe(
      true,
    );
    const readRejectedCount = async () =>
      (await readRejections(connected, 'MINER_COUNTER')).map(({ sequence }) => sequence);
    expect(await readRejectedCount()).toEqual(listRejectedSequences(count));
    await expectLikeUndisturbed(miner, dataDir, nats, count);
    expect(await readRejectedCount()).toEqual(listRejectedSequences(count));
  });
});

describe('nats-server', () => {
  it('killed with SIGKILL and started again under load, causes no loss and no duplicates', async () => {
    const { nats, connection, jsm, dataDir, miner } = await startReady();
    const polling = poll(miner);
    for (const from of [0, 2_500, 5_000]) {
      await publishAll(connection, mixedPublications(2_500, from));
      await nats.kill();
      await nats.start();
      await eventually(
        async () => (await jsm.streams.info('MINER_COUNTER')).state.last_seq > 0,
        'NATS is back',
      );
    }
    const { state } = await jsm.streams.info('MINER_COUNTER');
    await waitUntilStored(miner, state.last_seq);
    expect(await polling.stop()).toEqual([200]);
    expect(await miner.metric('miner_stream_interruptions_total{stream="MINER_COUNTER"}')).toBeGreaterThan(0);
    expect(miner.log().some(({ msg }) => msg === 'NATS connection lost; reconnecting')).toBe(true);
    expect(await miner.metric('miner_stream_divergences_total{stream="MINER_COUNTER"}')).toBe(0);
    await expectLikeUndisturbed(miner, dataDir, nats, state.last_seq);
  });

  it('with its consumers deleted behind the service’s back, is read on', async () => {
    const { connection, jsm, miner } = await startReady();
    for (let round = 0; round < 3; round++) {
      await publishAll(connection, mixedPublications(500, round * 500));
      await waitUntilFolded(miner, (round + 1) * 500);
      for await (const consumer of jsm.consumers.list('MINER_COUNTER')) {
        await jsm.consumers.delete('MINER_COUNTER', consumer.name);
      }
    }
    await publishAll(connection, mixedPublications(500, 1_500));
    await waitUntilFolded(miner, 2_000);
    expect(await miner.metric('miner_stream_interruptions_total{stream="MINER_COUNTER"}')).toBeGreaterThan(0);
    expect(miner.log().some(({ msg }) => msg === 'consumption is restarted')).toBe(true);
  });

  it('with a stream cut back and continued with other messages, ends like a run that saw only those', async () => {
    const { nats, connection, jsm, dataDir, miner } = await startReady();
    const polling = poll(miner);
    await publishAll(connection, mixedPublications(3_000));
    await waitUntilStored(miner, 3_000);

    // A power failure: messages acknowledged after the copy are lost, and their sequences are used again.
    await nats.kill('SIGTERM');
    cpSync(join(nats.dir, 'store'), join(nats.dir, 'copy'), { recursive: true });
    await nats.start();
    await eventually(async () => (await jsm.streams.info('MINER_COUNTER')).state.last_seq === 3_000, 'back');
    await publishAll(connection, mixedPublications(1_000, 3_000));
    await waitUntilStored(miner, 4_000);
    await nats.kill();
    rmSync(join(nats.dir, 'store'), { recursive: true });
    cpSync(join(nats.dir, 'copy'), join(nats.dir, 'store'), { recursive: true });
    await nats.start();
    await eventually(
      async () => (await jsm.streams.info('MINER_COUNTER')).state.last_seq === 3_000,
      'cut back',
    );
    await publishAll(connection, mixedPublications(1_500, 6_000));

    await waitUntilStored(miner, 4_500);
    await eventually(
      async () => (await miner.metric('miner_stream_divergences_total{stream="MINER_COUNTER"}')) === 1,
      'the divergence is counted',
    );
    expect(miner.log().filter(({ msg }) => String(msg).startsWith('stream diverged'))).not.toHaveLength(0);
    expect(await polling.stop()).toEqual([200]);
    await expectLikeUndisturbed(miner, dataDir, nats, 4_500);
  });

  it('with messages purged before they were read, is read on after them and logs the gap', async () => {
    const { nats, connection, jsm, dataDir, miner: first } = await startReady();
    await publishAll(connection, mixedPublications(300));
    await waitUntilStored(first, 300);
    await first.end('SIGTERM');
    await publishAll(connection, mixedPublications(300, 300));
    await jsm.streams.purge('MINER_COUNTER', { seq: 501 });
    const miner = await startMiner({ natsUrl: nats.url, dataDir });
    await waitUntilStored(miner, 600);
    expect(await miner.metric('miner_stream_missed_messages_total{stream="MINER_COUNTER"}')).toBe(200);
    expect(miner.log().some(({ missed, fromSequence }) => missed === 200 && fromSequence === 301)).toBe(true);
    // Rows stored before the purge are still there.
    const items = await allObservations(miner, 'wheel.one');
    expect(items[0]?.cursor).toBe(Buffer.from('1').toString('base64url'));
  });
});

describe('ClickHouse', () => {
  const engine = useClickHouseEngine();

  it('unavailable for a while: polling continues, rows wait, and there is no loss and no duplicate', async () => {
    const [nats, clickhouse] = [await startNats(), await engine.createDatabase()];
    const { connection } = await connectTo(nats);
    const miner = await startMiner({
      natsUrl: nats.url,
      clickhouseUrl: clickhouse,
      dataDir: temporaryDirectory(),
    });
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(3_000));
    await waitUntilStored(miner, 3_000);
    const polling = poll(miner);
    await engine.kill();
    // More than the buffer holds: the source is paused, and no message is dropped.
    const count = 60_000;
    await publishAll(connection, mixedPublications(count - 3_000, 3_000));
    await eventually(
      async () => ((await miner.metric('miner_rows_buffered{stream="MINER_COUNTER"}')) ?? 0) >= 30_000,
      'a full buffer',
    );
    expect(await miner.metric('miner_row_writer_state{stream="MINER_COUNTER",state="retrying"}')).toBe(1);
    await eventually(
      async () => (await fetch(`${miner.publicUrl}/readyz`)).status === 503,
      'not ready after the grace',
    );
    const folded = (await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')) ?? 0;
    expect(folded).toBeLessThan(count - 1_000);
    expect((await fetch(`${miner.publicUrl}/v1/public/telemetry`)).status).toBe(200);
    await engine.start();
    await waitUntilStored(miner, count);
    expect(await polling.stop()).toEqual([200]);
    expect(await miner.metric('miner_row_write_failures_total{stream="MINER_COUNTER"}')).toBeGreaterThan(0);
    const lines = miner.log().map(({ msg }) => msg);
    expect(lines.filter((line) => line === 'ClickHouse does not take rows; they wait')).toHaveLength(1);
    expect(lines.filter((line) => line === 'ClickHouse takes rows again')).toHaveLength(1);
    const stored = await storedState({ url: clickhouse });
    expect(stored.readings).toHaveLength(count - listRejectedSequences(count).length);
    await miner.end('SIGTERM');
    const other = await runUndisturbed(nats, count);
    expect(stored.rounds).toEqual(other.rounds);
    expect(stored.buckets).toEqual(other.buckets);
    expect(stored.readings).toEqual(other.readings);
  });
});
