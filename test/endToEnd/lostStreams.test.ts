import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { oracleSubject } from '../../actors/messages/subjects.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  ask,
  fetchReadiness,
  type MinerProcess,
  type MinerSettings,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

const count = 900;

/** A service that has stored readings and the state of a second stream. */
async function startFilled(settings: Partial<MinerSettings> = {}) {
  const nats = await startNats();
  const connected = await connectTo(nats);
  const dataDir = temporaryDirectory();
  const options = { natsUrl: nats.url, dataDir, ...settings };
  const miner = await startMiner(options);
  await waitUntilReady(miner);
  await publishAll(connected.connection, mixedPublications(count));
  const approval = {
    type: 'epoch_approved',
    at: '2026-01-01T00:00:00.000Z',
    counterEpoch: crypto.randomUUID(),
  };
  await connected.js.publish(oracleSubject('wheel.one'), JSON.stringify(approval));
  await waitUntilStored(miner, count);
  await waitUntilFolded(miner, 1, 'MINER_PIPELINE');
  const readCreated = async (stream: string) => (await connected.jsm.streams.info(stream)).created;
  return { nats, ...connected, dataDir, options, miner, readCreated };
}

const countReadings = async (dataDir: string) =>
  (await storedState({ path: join(dataDir, 'clickhouse') })).readings.length;

/** Waits until `/readyz` names a stream as lost, and returns its entry. */
function untilLost(miner: MinerProcess, stream = 'MINER_COUNTER') {
  return eventually(async () => {
    const { lostStreams = [] } = await fetchReadiness(miner);
    return lostStreams.find((one) => one.stream === stream);
  }, `${stream} to be lost`);
}

async function restart(miner: MinerProcess, options: MinerSettings) {
  await miner.end('SIGTERM');
  return startMiner(options);
}

describe('a stream that the stored rows were made from, and that is gone', () => {
  it('is not replaced in an empty NATS until its loss is accepted, and is followed again in the right one', async () => {
    const { dataDir, options, miner, readCreated } = await startFilled();
    const created = await readCreated('MINER_COUNTER');
    const lost = [`MINER_COUNTER@${created}`, `MINER_PIPELINE@${await readCreated('MINER_PIPELINE')}`];
    await miner.end('SIGTERM');
    const before = await countReadings(dataDir);
    const wrong = await startNats();
    const astray = await startMiner({ ...options, natsUrl: wrong.url });
    expect(await untilLost(astray)).toEqual({ stream: 'MINER_COUNTER', folded: created, found: null });
    const { status, waitingFor } = await fetchReadiness(astray);
    expect([status, waitingFor]).toEqual(['waiting', ['the streams']]);
    expect((await ask(`${astray.publicUrl}/v1/status`)).status).toBe(503);
    const line = astray.log().filter(({ lost }) => lost !== undefined);
    expect(line).toHaveLength(1);
    expect(line[0]?.msg).toContain(`MINER_COUNTER@${created}`);
    await astray.end('SIGTERM');
    const { jsm } = await connectTo(wrong);
    expect(await jsm.streams.names().next()).toEqual([]);
    expect(await countReadings(dataDir)).toBe(before);
    const back = await startMiner(options);
    await waitUntilStored(back, count);
    await back.end('SIGTERM');
    // Once their loss is accepted, all streams are created in the empty one, and their values are unknown.
    const environment = { MINER_LOST_STREAMS: lost.join(',') };
    const accepting = await startMiner({ ...options, natsUrl: wrong.url, environment });
    await waitUntilReady(accepting);
    const { settlementQueue } = await accepting.json<{ settlementQueue: object }>('/v4/public/process');
    expect(settlementQueue).toEqual({ status: 'unavailable', reason: 'oracle_head_unavailable' });
    await accepting.end('SIGTERM');
    expect(await countReadings(dataDir)).toBe(0);
  });

  it('keeps its rows if it was created again, running and at a start, until its loss is accepted by name', async () => {
    const { jsm, connection, dataDir, options, miner, readCreated } = await startFilled();
    const folded = await readCreated('MINER_COUNTER');
    const { config } = await jsm.streams.info('MINER_COUNTER');
    await jsm.streams.delete('MINER_COUNTER');
    await jsm.streams.add(config as Parameters<typeof jsm.streams.add>[0]);
    const found = await readCreated('MINER_COUNTER');
    await publishAll(connection, mixedPublications(1_200, 6_000));
    expect(await untilLost(miner)).toEqual({ stream: 'MINER_COUNTER', folded, found });
    const refused = await restart(miner, options);
    expect(await untilLost(refused)).toEqual({ stream: 'MINER_COUNTER', folded, found });
    const { output } = await minerCommand(['doctor', '--quick'], {
      MINER_NATS_URL: options.natsUrl,
      MINER_DATA_DIR: dataDir,
      MINER_OPS_PORT: new URL(refused.operatorUrl).port,
    });
    expect(output).toContain(`created ${found}`);
    expect(output).toContain(`MINER_LOST_STREAMS=MINER_COUNTER@${folded}`);
    // Accepting another stream's loss changes nothing.
    const other = { MINER_LOST_STREAMS: `MINER_COUNTER@${found},MINER_PIPELINE@${folded}` };
    const refusedAgain = await restart(refused, { ...options, environment: other });
    await untilLost(refusedAgain);
    await refusedAgain.end('SIGTERM');
    expect(await countReadings(dataDir)).toBeGreaterThan(0);
    const environment = { MINER_LOST_STREAMS: `MINER_COUNTER@${folded}` };
    const accepting = await startMiner({ ...options, environment });
    await waitUntilStored(accepting, 1_200);
    // The setting may be removed at once, or kept.
    await waitUntilStored(await restart(accepting, options), 1_200);
  });
});
