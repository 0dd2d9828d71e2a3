import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { counterSubject, streamNames } from '../../actors/messages/subjects.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { startNatsCluster } from '../support/processes/natsCluster.ts';
import { connectTo, type TestConnection } from '../support/processes/natsServer.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';

/** Between two readings of the load. */
const intervalMs = 50;

/** Publishes readings one after another, each until it is acknowledged. */
function publishReadings({ js }: TestConnection) {
  const stopping = new AbortController();
  let acknowledged = 0;
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const reading = readingMessage('wheel.one', acknowledged, {}, 1_000);
      const body = JSON.stringify(reading);
      try {
        // An unknown outcome is published again under its ID.
        await js.publish(counterSubject('wheel.one'), body, { msgID: reading.telemetryId });
        acknowledged++;
        await pause(intervalMs);
      } catch {
        await pause(intervalMs);
      }
    }
  })();
  return {
    acknowledged: () => acknowledged,
    stop: async () => {
      stopping.abort();
      await running;
      return acknowledged;
    },
  };
}

const findLeader = async ({ jsm }: TestConnection, stream: string) =>
  (await jsm.streams.info(stream)).cluster?.leader;

it('a NATS cluster loses a leader under load, and nothing else', async () => {
  const cluster = await startNatsCluster();
  const connected = await connectTo(cluster);
  const dataDir = temporaryDirectory();
  const settings = { natsUrl: cluster.url, dataDir, environment: { MINER_READY_GRACE_SECONDS: '3' } };
  const single = await startMiner(settings);
  await waitUntilReady(single);
  const warned = single.log().find(({ msg }) => String(msg).includes('MINER_STREAM_REPLICAS=3'));
  expect(warned?.streams).toEqual(streamNames);
  await single.end('SIGTERM');

  const miner = await startMiner({ ...settings, environment: { MINER_STREAM_REPLICAS: '3' } });
  await waitUntilReady(miner);
  await eventually(async () => {
    const { config, cluster: of } = await connected.jsm.streams.info('MINER_COUNTER');
    const isCurrent = of?.replicas?.length === 2 && of.replicas.every(({ current }) => current);
    return config.num_replicas === 3 && isCurrent;
  }, 'three replicas');
  const load = publishReadings(connected);
  await eventually(() => load.acknowledged() >= 20, 'load');
  await eventually(async () => {
    const used = await miner.metric('miner_nats_store_bytes{kind="used"}');
    const ofServer = await miner.metric('miner_nats_store_bytes{kind="server"}');
    // The account counts three copies; each server has one.
    return Math.round((used ?? 0) / (ofServer ?? 0)) === 3;
  }, 'the use of the store by account and server');
  const leader = await eventually(() => findLeader(connected, 'MINER_COUNTER'), 'a leader');
  await cluster.kill(leader);
  const before = load.acknowledged();
  await eventually(() => load.acknowledged() >= before + 40, 'readings after the failure');
  const published = await load.stop();
  await waitUntilStored(miner, published);
  expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}')).toBe(
    published,
  );
  expect(await miner.metric('miner_stream_missed_messages_total{stream="MINER_COUNTER"}')).toBe(0);
  await waitUntilReady(miner);
});
