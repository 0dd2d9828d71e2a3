import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { createStreamVerifier, StreamDiverged } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { NotProven } from '../../streams/jetstream/proofs/suspicions.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { startNatsCluster } from '../support/processes/natsCluster.ts';
import { connectTo } from '../support/processes/natsServer.ts';
import { readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { collectSource } from '../support/streams/collectedSource.ts';

const stream = 'MINER_COUNTER';
const bursts = 10;
const readingsPerBurst = 6_000;
const lossesOfEnd = Number(process.env.MINER_LOSSES ?? 3);
/** As many as a gateway sends at once that was cut off for a while. */
const inFlight = 6_000;
const busyLoops = 6;
/** A loss is proven after 30 seconds, and has to be found within a minute. */
const foundWithinMs = 60_000;

const environment = { MINER_STREAM_REPLICAS: '3' };

type World = Awaited<ReturnType<typeof startWorld>>;

async function startWorld() {
  const cluster = await startNatsCluster();
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: cluster.url, dataDir, environment });
  await waitUntilReady(miner);
  const connected = await connectTo(cluster);
  await eventually(async () => {
    const { config, cluster: of } = await connected.jsm.streams.info(stream);
    return config.num_replicas === 3 && of?.replicas?.every(({ current }) => current);
  }, 'three replicas');
  return { cluster, ...connected, miner, dataDir };
}

/** Publishes readings of one wheel by number, each until it is acknowledged. A change of the leader lets later ones overtake earlier ones. */
async function publish({ js }: World, from: number, count: number, softwareVersion = 'first') {
  for (let sent = 0; sent < count; sent += inFlight) {
    const numbers = Array.from({ length: Math.min(inFlight, count - sent) }, (_, at) => from + sent + at);
    await Promise.all(
      numbers.map((number) => {
        const reading = readingMessage('wheel.one', number, { softwareVersion }, 1_000);
        const { subject, body } = toPublication(reading);
        return eventually(
          () => js.publish(subject, body, { msgID: reading.telemetryId }),
          `reading ${number}`,
        );
      }),
    );
  }
}

const findRemovals = ({ miner }: World) =>
  miner.log().filter(({ msg }) => String(msg).includes('no longer in the stream'));

const readDivergences = ({ miner }: World) =>
  miner.metric(`miner_stream_divergences_total{stream="${stream}"}`);

/** Follows the stream in this process, and verifies it as often as it can: the service asks only every two seconds. */
function observe(world: World) {
  const collected = collectSource(world);
  const verifier = createStreamVerifier({ ...world, stream, clock: systemClock });
  const seen = { answers: 0, behind: 0 };
  let isObserving = true;
  const observing = (async () => {
    while (isObserving) {
      await pause(10);
      await verifier.verify(collected.streamPosition).then(
        () => seen.answers++,
        (error: unknown) => {
          if (error instanceof StreamDiverged) throw error;
          if (error instanceof NotProven) seen.behind++;
        },
      );
    }
    return seen;
  })();
  observing.catch(() => undefined); // The end of the observation throws it.
  return async () => {
    isObserving = false;
    return observing;
  };
}

it(`a busy cluster whose leader changes ${bursts} times during bursts is never taken for another one`, async () => {
  const world = await startWorld();
  for (let loop = 0; loop < busyLoops; loop++) startProcess(process.execPath, ['-e', 'for (;;);']);
  const endObservation = observe(world);
  for (let burst = 0; burst < bursts; burst++) {
    const publishing = publish(world, burst * readingsPerBurst, readingsPerBurst);
    await pause(200);
    await world.connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, '', { timeout: 10_000 });
    await publishing;
    await pause(1_000);
  }
  const { state } = await world.jsm.streams.info(stream);
  await waitUntilStored(world.miner, state.last_seq);
  expect([await readDivergences(world), findRemovals(world)]).toEqual([0, []]);
  const { answers, behind } = await endObservation();
  process.stdout.write(
    `${behind} of ${answers + behind} answers were behind what another server had delivered\n`,
  );
  expect(await world.miner.metric(`miner_stream_missed_messages_total{stream="${stream}"}`)).toBe(0);
  await world.miner.end('SIGTERM');
  const { output, status } = await minerCommand(['doctor'], {
    MINER_NATS_URL: world.cluster.url,
    MINER_DATA_DIR: world.dataDir,
    MINER_DEPLOYMENT: writeDeployment(world.dataDir),
  });
  expect(output).toMatch(/ok +readings: \d+ in the stream and in ClickHouse/);
  expect(status).toBe(0);
});

it(`an end that a cluster really loses is found within a minute, ${lossesOfEnd} of ${lossesOfEnd} times`, async () => {
  const world = await startWorld();
  const { cluster, miner } = world;
  const backup = temporaryDirectory();
  let published = 0;
  for (let loss = 1; loss <= lossesOfEnd; loss++) {
    await publish(world, published, 1_000);
    published += 1_000;
    await waitUntilStored(miner, published);
    await cluster.stopAll();
    const saved = join(backup, String(loss));
    cpSync(cluster.dir, saved, { recursive: true });
    await cluster.startAll();
    await publish(world, published, 500, `lost ${loss}`);
    await waitUntilStored(miner, published + 500);
    await cluster.stopAll('SIGKILL');
    rmSync(cluster.dir, { recursive: true });
    cpSync(saved, cluster.dir, { recursive: true });
    const divergences = (await readDivergences(world)) ?? 0;
    await cluster.startAll();
    await eventually(
      async () => (await world.jsm.streams.info(stream)).state.last_seq === published,
      'a leader',
    );
    const isFound = async () => (await readDivergences(world)) === divergences + 1;
    await eventually(isFound, 'the loss to be found', foundWithinMs);
    await waitUntilReady(miner);
    expect(findRemovals(world).length).toBe(loss);
  }
});
