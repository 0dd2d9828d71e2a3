import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/processes/childProcess.ts';
import {
  ask,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, readRejections, startNats, type TestNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, type Publication, publishAll } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';
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

/** Stops a disturbed service, and expects the same shown and stored state as from an undisturbed one on the same streams. */
async function expectLikeUndisturbed(miner: MinerProcess, dataDir: string, nats: TestNats, through: number) {
  const views = await readShown(miner);
  await miner.end('SIGTERM');
  const otherDir = temporaryDirectory();
  const other = await startMiner({ natsUrl: nats.url, dataDir: otherDir });
  await waitUntilStored(other, through);
  expect(views).toEqual(await readShown(other));
  await other.end('SIGTERM');
  const [stored, expected] = [
    await storedState({ path: join(dataDir, 'clickhouse') }),
    await storedState({ path: join(otherDir, 'clickhouse') }),
  ];
  expect(stored).toEqual(expected);
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
    const count = 6_000;
    const publishing = publishSteadily(connected.connection, mixedPublications(count));
    for (const position of [1_000, 3_000]) {
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
    for (const from of [0, 1_000, 2_000]) {
      await publishAll(connection, mixedPublications(1_000, from));
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
});
