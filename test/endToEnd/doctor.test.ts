import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { buildChainMembers } from '../support/chain/chainMembers.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { listenHere } from '../support/processes/listenHere.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const doctor = (environment: Record<string, string>) => minerCommand(['doctor'], environment);

describe('doctor', () => {
  it('finds nothing wrong when sound, and names what is missing', async () => {
    const economy = await startEconomy();
    for (let block = 0; block < 12; block++) await economy.mine();
    const nats = await startNats();
    const dataDir = temporaryDirectory();
    const onChain = buildChainMembers(economy);
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir,
      onChain,
      environment: { MINER_RPC_URL: economy.url },
    });
    await waitUntilReady(miner);
    const { connection } = await connectTo(nats);
    // Some half hours of each wheel.
    await publishAll(connection, mixedPublications(900));
    await waitUntilStored(miner, 900);
    const tip = Number(await economy.client.getBlockNumber({ cacheTime: 0 }));
    await eventually(
      async () => (await miner.metric('miner_chain_block{block="head"}')) === tip,
      'the chain',
    );

    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir, onChain),
      MINER_RPC_URL: economy.url,
    };
    const checks = [
      'NATS',
      'JetStream',
      'ClickHouse',
      'migrations',
      'disk of .*',
      'folder',
      'snapshots MINER_(COUNTER|PIPELINE|CHAIN)',
      'stream MINER_(COUNTER|PIPELINE|CHAIN|REJECTED|LEASE)',
      'replicas MINER_(COUNTER|PIPELINE|CHAIN|REJECTED|LEASE)',
      'clock',
      'NATS permissions',
      'node',
      'deployment',
      'blocks',
    ];
    const expectSound = ({ output, status }: { readonly output: string; readonly status: number | null }) => {
      const isWarned = (check: string) =>
        check === 'NATS' && output.includes('cannot sync before it acknowledges');
      for (const check of checks)
        expect(output).toMatch(new RegExp(`${isWarned(check) ? 'warning' : 'ok'} +${check}: `));
      expect(output).toContain('nothing wrong was found');
      expect(status).toBe(0);
    };
    // Only the service may open the engine, so the doctor asks the service.
    const beside = await doctor({ ...environment, MINER_OPS_PORT: new URL(miner.operatorUrl).port });
    expectSound(beside);
    expect(beside.output).toMatch(/ok +stream MINER_COUNTER: messages 1 to 900, .* behind/);
    expect(beside.output).toMatch(/ok +NATS permissions: this user may serve, ingest, index\n/);

    await connection.flush();
    const bad = ['not JSON', 'no JSON \u001b[31m', '{"telemetryId":1}'];
    for (const text of bad) connection.publish('miner.counter.wheel', text);
    const { output } = await eventually(async () => {
      const listed = await minerCommand(['rejected', '--reason', 'malformed', '--count', '2'], environment);
      return listed.output.includes(' 903 malformed ') && listed;
    }, 'the last rejection');
    expect(output).toMatch(
      /^checking NATS .*\n.* MINER_COUNTER 902 malformed .*: not JSON: .*\n.* MINER_COUNTER 903 malformed .*telemetryId: .*\n$/,
    );
    expect(output).not.toContain('\u001b');
    expect(miner.output()).toMatch(/"reason":"malformed".*"messages are rejected"/);

    expect(await miner.end('SIGTERM')).toBe(0);
    const sound = await doctor(environment);
    expectSound(sound);
    expect(sound.output).toContain('`miner replay --dry-run` compares every row and state');
  });

  it('ends even if one server never answers and another is unavailable, and says what it awaits', async () => {
    const port = await listenHere(createServer());
    const { status, output } = await doctor({
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_NATS_URL: `nats://127.0.0.1:${port}`,
      MINER_CLICKHOUSE_URL: 'http://127.0.0.1:1',
      MINER_OPS_PORT: String(port),
    });
    expect(output).toMatch(/checking NATS at nats:\/\/127\.0\.0\.1:\d+\n(.*\n)*FAILED +NATS: .*\n +->/);
    expect(output).toMatch(/FAILED +ClickHouse: .*\n +->/);
    expect(output).toMatch(/skipped +self-audit of the service: no service answers/);
    expect(status).toBe(1);
  });
});
