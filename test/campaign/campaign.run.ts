import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { confirmations } from '../../actors/chain/spans/confirmations.ts';
import { createRandom as createSeeded } from '../simulation/world/random.ts';
import { buildChainMembers } from '../support/chain/buildChainMembers.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { reorganize } from '../support/chain/reorganize.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { readFeed } from '../support/http/readFeed.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import {
  ask,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { startAudience } from './audience.ts';
import { checkFromOutside } from './checkFromOutside.ts';
import { startGateway } from './gateway.ts';
import { startListeners } from './listeners.ts';
import { createReplays } from './replays.ts';

const setting = (name: string, otherwise: number) => Number(process.env[`CAMPAIGN_${name}`] ?? otherwise);
const minutes = setting('MINUTES', 20);
/** The campaign runs until this many processes were killed. */
const kills = setting('KILLS', 0);
const seed = setting('SEED', 7);
const clients = setting('CLIENTS', 2_000);
const streams = setting('STREAMS', 200);
const page = resolve(import.meta.dirname, '../CAMPAIGN.md');

const engine = useClickHouseEngine();

it('shows every reading and event exactly once, and the same as a service without faults, whatever is killed', async () => {
  const random = createSeeded(`campaign ${seed}`);
  const economy = await startEconomy();
  const steps = createRandomEconomy(economy, seed);
  await steps.open();
  const readTip = () => economy.client.getBlockNumber({ cacheTime: 0 });
  const opened = await readTip();
  const nats = await startNats();
  const natsProxy = await startCuttingProxy(nats.url.replace('nats:', 'http:'));
  const clickHouseProxy = await startCuttingProxy(await engine.createDatabase());
  const dataDir = temporaryDirectory();
  const counts = new Map<string, number>();
  const note = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const natsUrl = natsProxy.url.replace('http:', 'nats:');
  const start = (clickhouseUrl: string, dir: string) =>
    startMiner({
      natsUrl,
      clickhouseUrl,
      dataDir: dir,
      onChain: buildChainMembers(economy),
      environment: { MINER_RPC_URL: economy.url, MINER_CHAIN_STALE_SECONDS: '3600' },
    });
  let miner: MinerProcess = await start(clickHouseProxy.url, dataDir);
  await waitUntilReady(miner);
  const memoryAtFirst = readMemoryMiB(miner);
  const gateway = await startGateway(nats.url, random.fork('gateway').next);
  const audience = startAudience(() => miner.publicUrl, clients);
  const listeners = startListeners(() => miner.publicUrl, streams);
  const replayDir = temporaryDirectory();
  const replays = createReplays({
    MINER_NATS_URL: natsUrl,
    MINER_CLICKHOUSE_URL: clickHouseProxy.url,
    MINER_DATA_DIR: replayDir,
    MINER_DEPLOYMENT: writeDeployment(replayDir, buildChainMembers(economy)),
  });
  const countKills = () =>
    [...counts].reduce((sum, [kind, count]) => (kind.startsWith('kill') ? sum + count : sum), 0);
  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

  const faults: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'kill -9 of the service',
      async () => {
        await miner.end('SIGKILL');
        miner = await start(clickHouseProxy.url, dataDir);
      },
    ],
    [
      'kill -9 of nats-server',
      async () => {
        await nats.kill();
        await pause(random.integer(0, 1_000));
        await nats.start();
      },
    ],
    [
      'kill -9 of ClickHouse',
      async () => {
        await engine.kill();
        await pause(random.integer(0, 1_000));
        await engine.start();
      },
    ],
    [
      'network to NATS held',
      async () => {
        natsProxy.hold(true);
        await pause(random.integer(500, 5_000));
        natsProxy.hold(false);
        // The swallowed bytes make the connection unusable.
        natsProxy.cutAnswers(1);
      },
    ],
    ['connection to NATS cut', async () => natsProxy.cutAnswers(random.integer(1, 3))],
    ['answers of ClickHouse cut', async () => clickHouseProxy.cutAnswers(random.integer(1, 5))],
    ['replay', async () => replays.start(random.integer(2_000, 60_000))],
    [
      'reorganization',
      async () => {
        // The contracts and their sale stay unchanged.
        const depth = Math.min(random.integer(1, 40), Number((await readTip()) - opened));
        await reorganize(economy, depth, steps.step);
      },
    ],
  ];

  const endMs = performance.now() + minutes * 60_000;
  while (performance.now() < endMs || countKills() < kills) {
    if (random.oneOf(2)) await steps.step();
    // Mostly at once, sometimes after a pause in which everything can catch up.
    await pause(random.oneOf(20) ? random.integer(5_000, 12_000) : random.integer(0, 700));
    const isKill = !random.oneOf(4);
    const [kind, strike] = isKill ? (faults[0] as (typeof faults)[number]) : random.pick(faults);
    note(kind);
    await strike();
  }

  audience.end();
  await gateway.end();
  natsProxy.cutAnswers(0);
  clickHouseProxy.cutAnswers(0);
  const connection = await connectTo(nats);
  const { state } = await connection.jsm.streams.info('MINER_COUNTER');
  await waitUntilReady(miner);
  await waitUntilStored(miner, state.last_seq);
  const lastReplay = await replays.complete();
  await waitUntilReady(miner);
  // Until the feed shows all events.
  for (let block = 0n; block < confirmations; block++) await economy.mine();
  const tip = await readTip();
  const seesTip = async (one: MinerProcess) =>
    (await one.metric('miner_chain_block{block="head"}')) === Number(tip);
  const freshDir = join(temporaryDirectory());
  const fresh = await start(await engine.createDatabase(), freshDir);
  await waitUntilReady(fresh);
  await waitUntilStored(fresh, state.last_seq);
  for (const one of [miner, fresh]) await eventually(() => seesTip(one), 'the tip of the chain');
  const readEvents = async () => {
    const [newest, ...older] = await readFeed(miner.json);
    return newest && ([newest, ...older] as const);
  };
  const feed = await eventually(readEvents, 'the feed');
  await eventually(() => listeners.haveAll(feed[0]), 'the newest event at each event stream');
  const missedEvents = listeners.countMissed(feed);
  listeners.end();
  const findings = await checkFromOutside(miner, fresh, connection);
  const rows: readonly (readonly [string, string | number])[] = [
    ['Minutes, seed', `${minutes}, ${seed}`],
    ['Polling clients, event streams', `${clients}, ${streams}`],
    ...[...counts].sort(),
    ['kill -9 of anything', countKills()],
    ['Replays that were killed, that changed tables', `${replays.killed}, ${replays.completed}`],
    ['Readings that were acknowledged', gateway.acknowledged],
    ['Readings that were accepted', findings.accepted],
    [
      'Readings that were lost, or are there twice',
      `${findings.missingReadings}, ${findings.doubledReadings}`,
    ],
    [
      'Rejections that are missing, or were published twice',
      `${findings.missingRejections}, ${findings.doubledRejections}`,
    ],
    ['Answers that differ from a service without faults', findings.differingAnswers.length],
    ['Requests, of them answered', `${audience.requests}, ${audience.answered}`],
    ['Answers other than 200, 304 and 503', audience.wrongAnswers.length],
    ['Events of the feed at the end', feed.length],
    [
      'Events sent to event streams, of them to one stream twice, and not sent to one',
      `${listeners.events}, ${listeners.doubled.length}, ${missedEvents}`,
    ],
    [
      'Events sent again since their transaction was mined again, after a reorganization',
      listeners.minedAgain,
    ],
    ['Longest time without another reading', `${(audience.longestStaleMs / 1_000).toFixed(1)} s`],
    ['Longest answer', `${(audience.longestAnswerMs / 1_000).toFixed(1)} s`],
    [
      'Memory of the service at the beginning, at the end',
      `${memoryAtFirst} MiB, ${readMemoryMiB(miner)} MiB`,
    ],
  ];
  const table = rows.map(([what, value]) => `| ${what} | ${value} |`).join('\n');
  writeFileSync(
    page,
    `${readFileSync(page, 'utf8').split('<!-- table -->')[0]}<!-- table -->\n| | |\n|---|---|\n${table}\n`,
  );
  expect(findings).toMatchObject({
    missingReadings: 0,
    doubledReadings: 0,
    missingRejections: 0,
    doubledRejections: 0,
    differingAnswers: [],
  });
  expect(lastReplay).toMatchObject({ status: 0, output: expect.stringContaining('no day differs') });
  expect(audience.wrongAnswers).toEqual([]);
  expect({ doubled: listeners.doubled, missed: missedEvents }).toEqual({ doubled: [], missed: 0 });
  expect((await ask(`${miner.operatorUrl}/readyz`)).status).toBe(200);
});

/** Resident memory of a process, by Linux. */
function readMemoryMiB({ pid }: MinerProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}
