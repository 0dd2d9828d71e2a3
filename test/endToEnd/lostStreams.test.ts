import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/processes/childProcess.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  ask,
  fetchReadiness,
  type MinerProcess,
  type MinerSettings,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

/** Waits until `/readyz` names the stream of readings as lost, and returns its entry. */
const untilLost = (miner: MinerProcess) =>
  eventually(async () => {
    const { lostStreams = [] } = await fetchReadiness(miner);
    return lostStreams.find(({ stream }) => stream === 'MINER_COUNTER');
  }, 'the stream to be lost');

async function restart(miner: MinerProcess, options: MinerSettings) {
  await miner.end('SIGTERM');
  return startMiner(options);
}

// An empty NATS is in local.test.ts.
it('a recreated stream leaves earlier rows until the loss is accepted', async () => {
  const nats = await startNats();
  const { connection, jsm } = await connectTo(nats);
  const dataDir = temporaryDirectory();
  const options = { natsUrl: nats.url, dataDir };
  const miner = await startMiner(options);
  await waitUntilReady(miner);
  await publishAll(connection, mixedPublications(900));
  await waitUntilStored(miner, 900);
  const { config, created: folded } = await jsm.streams.info('MINER_COUNTER');
  await jsm.streams.delete('MINER_COUNTER');
  await jsm.streams.add(config as Parameters<typeof jsm.streams.add>[0]);
  const { created: found } = await jsm.streams.info('MINER_COUNTER');
  await publishAll(connection, mixedPublications(1_200, 6_000));
  expect(await untilLost(miner)).toEqual({ stream: 'MINER_COUNTER', folded, found });
  // Accepting another stream's loss changes nothing.
  const other = { MINER_LOST_STREAMS: `MINER_COUNTER@${found},MINER_PIPELINE@${folded}` };
  const refused = await restart(miner, { ...options, environment: other });
  expect(await untilLost(refused)).toEqual({ stream: 'MINER_COUNTER', folded, found });
  expect((await fetchReadiness(refused)).waitingFor).toEqual(['the streams']);
  expect((await ask(`${refused.publicUrl}/v1/status`)).status).toBe(503);
  const said = refused.log().filter(({ lost }) => lost !== undefined);
  expect(said.map(({ msg }) => msg)).toEqual([expect.stringContaining(`MINER_COUNTER@${folded}`)]);
  const { output } = await minerCommand(['doctor'], {
    MINER_NATS_URL: options.natsUrl,
    MINER_DATA_DIR: dataDir,
    MINER_OPS_PORT: new URL(refused.operatorUrl).port,
  });
  expect(output).toContain(`created ${found}`);
  expect(output).toContain(`MINER_LOST_STREAMS=MINER_COUNTER@${folded}`);
  await refused.end('SIGTERM');
  expect((await storedState({ path: join(dataDir, 'clickhouse') })).readings.length).toBeGreaterThan(0);
  const environment = { MINER_LOST_STREAMS: `MINER_COUNTER@${folded}` };
  const accepting = await startMiner({ ...options, environment });
  await waitUntilStored(accepting, 1_200);
  // The setting may be removed at once, or kept.
  await waitUntilStored(await restart(accepting, options), 1_200);
});

it('rows of a NATS count again once it is back', async () => {
  const [old, between] = [await startNats(), await startNats()];
  const dataDir = temporaryDirectory();
  /** Starts with the streams of a NATS. Those of the one before are lost, and accepted as such by what `/readyz` names. */
  const startOn = async (nats: typeof old) => {
    const options = { natsUrl: nats.url, dataDir };
    const refused = await startMiner(options);
    await untilLost(refused);
    const { lostStreams = [] } = await fetchReadiness(refused);
    const accepted = lostStreams.map(({ stream, folded }) => `${stream}@${folded}`).join(',');
    return restart(refused, { ...options, environment: { MINER_LOST_STREAMS: accepted } });
  };
  const publish = async (nats: typeof old, miner: MinerProcess, readings: number) => {
    const { connection } = await connectTo(nats);
    await waitUntilReady(miner);
    await publishAll(connection, mixedPublications(readings));
    await waitUntilStored(miner, readings);
    await miner.end('SIGTERM');
  };
  const stored = () => storedState({ path: join(dataDir, 'clickhouse') });

  await publish(old, await startMiner({ natsUrl: old.url, dataDir }), 900);
  const ofOld = await stored();
  await publish(between, await startOn(between), 300);
  expect((await stored()).readings.length).toBeLessThan(ofOld.readings.length);
  const again = await startOn(old);
  await waitUntilReady(again);
  await again.end('SIGTERM');
  expect(await stored()).toEqual(ofOld);
});
