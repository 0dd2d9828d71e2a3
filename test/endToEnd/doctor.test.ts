import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { readings } from '../../storage/tables/readings.ts';
import { buildChainMembers } from '../support/chain/buildChainMembers.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import {
  mixedPublications,
  publishAll,
  readingMessage,
  toPublication,
} from '../support/readings/readingMessages.ts';

const doctor = (environment: Record<string, string>, ...args: string[]) =>
  minerCommand(['doctor', ...args], environment);

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
      'replays',
      'disk of .*',
      'folder',
      'snapshots MINER_(COUNTER|PIPELINE|CHAIN)',
      'stream MINER_(COUNTER|PIPELINE|CHAIN|REJECTED|LEASE)',
      'replicas MINER_(COUNTER|PIPELINE|CHAIN|REJECTED|LEASE)',
      'retention MINER_(COUNTER|PIPELINE|CHAIN)',
      'clock',
      'NATS permissions',
      'node',
      'deployment',
      'blocks',
      'spans',
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
    const bad = ['no JSON \u001b[31m', '{"telemetryId":1}', 'no JSON again'];
    for (const text of bad) connection.publish('miner.counter.wheel', text);
    await eventually(
      async () => Number(await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')) === 903,
      'three rejections',
    );
    const list = (...args: string[]) => minerCommand(['rejected', ...args], environment);
    const { output } = await eventually(async () => {
      const listed = await list('--reason', 'malformed', '--count', '2');
      return listed.output.includes(' 903 malformed ') && listed;
    }, 'the last rejection');
    expect(output).not.toContain(' 901 malformed ');
    expect(output).toMatch(
      /MINER_COUNTER 902 malformed .*telemetryId: .*\n.* MINER_COUNTER 903 malformed .*: not JSON: /,
    );
    const three = (await list('--count', '3')).output;
    expect(three).toContain('MINER_COUNTER 901 malformed ');
    expect(three).not.toContain('\u001b');
    expect((await list('--reason', 'unlinked_span')).output).toContain(
      'no message was rejected as unlinked_span, ',
    );
    const warned = await doctor({ ...environment, MINER_OPS_PORT: '1' }, '--quick');
    expect(warned.output).toMatch(/skipped +ClickHouse: .*in use by process .*MINER_OPS_PORT/);
    expect(warned.output).toMatch(/warning +rejections: (.*\n)+? .* MINER_COUNTER 901 malformed /);
    expect(warned.status).toBe(0);
    expect(miner.output()).toMatch(/"reason":"malformed".*"messages are rejected"/);

    expect(await miner.end('SIGTERM')).toBe(0);
    const sound = await doctor(environment);
    expectSound(sound);
    expect(sound.output).toMatch(/ok +self-audit: [1-8] samples of \d+ half hours agree/);
    expect(sound.output).toContain(`spans: blocks 1 to ${tip - 11} and their `);

    const database = openDatabase({ path: join(dataDir, 'clickhouse') });
    // The wheels take turns of three, so every half hour of each loses readings, whichever the doctor samples.
    await database.command(
      `ALTER TABLE ${readings.name} DELETE WHERE position % 10 = 0 SETTINGS mutations_sync = 1`,
    );
    await database.close();
    const damaged = await doctor({ ...environment, MINER_RPC_URL: 'http://127.0.0.1:1' });
    expect(damaged.output).toMatch(/FAILED +self-audit: half hour /);
    expect(damaged.output).toMatch(/FAILED +node: /);
    expect(damaged.output).not.toMatch(/FAILED +(?! |node|self-audit)/);
    expect(damaged.status).toBe(1);
    const quick = await doctor(environment, '--quick');
    expect(quick.output).toContain('skipped by --quick');
    expect(quick.output).not.toMatch(/self-audit: (half hour|[1-8] samples)/);
  });

  it('finds nothing wrong with a round at the oldest kept row', async () => {
    const nats = await startNats();
    const dataDir = temporaryDirectory();
    const ttlDays = 32;
    // The oldest row that is kept lies within the first of the three hours of readings.
    const startMs = Math.floor(Date.now() / 1_800_000 - 1) * 1_800_000 - ttlDays * 86_400_000;
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir,
      startMs,
      environment: { MINER_READINGS_TTL_DAYS: String(ttlDays) },
    });
    await waitUntilReady(miner);
    const { connection } = await connectTo(nats);
    const messages = Array.from({ length: 200 }, (_, index) => {
      const time = new Date(startMs + index * 60_000).toISOString();
      return toPublication(readingMessage('wheel.one', index, { observedAt: time, receivedAt: time }));
    });
    await publishAll(connection, messages);
    await waitUntilStored(miner, messages.length);
    expect(await miner.end('SIGTERM')).toBe(0);
    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir, {}, startMs),
    };
    const { status, output } = await doctor(environment, '--all');
    // Rows may leave now, so they are not compared; the state is.
    expect(output).toMatch(/ok +rows of MINER_COUNTER: .*, 0 of stored_readings\n/);
    expect(output).toMatch(/ok +state of MINER_COUNTER: /);
    expect(output).toContain('nothing wrong was found');
    expect(status).toBe(0);
  });

  it('says what to do about an unavailable NATS', async () => {
    const { status, output } = await doctor({
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_NATS_URL: 'nats://127.0.0.1:1',
    });
    expect(output).toMatch(/FAILED +NATS: nats:\/\/127\.0\.0\.1:1.*\n +->/);
    expect(status).toBe(1);
  });

  it('ends even if one server never answers and another is unavailable, and says what it awaits', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { status, output } = await doctor({
      MINER_DATA_DIR: temporaryDirectory(),
      MINER_NATS_URL: `nats://127.0.0.1:${port}`,
      MINER_CLICKHOUSE_URL: 'http://127.0.0.1:1',
      MINER_OPS_PORT: String(port),
    });
    silent.close();
    expect(output).toMatch(/checking NATS at nats:\/\/127\.0\.0\.1:\d+\n(.*\n)*FAILED +NATS: /);
    expect(output).toMatch(/FAILED +ClickHouse: .*\n +->/);
    expect(output).toMatch(/skipped +self-audit of the service: no service answers/);
    expect(status).toBe(1);
  });
});
