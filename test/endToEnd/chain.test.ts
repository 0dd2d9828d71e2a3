import { toEventSelector } from 'viem';
import { describe, expect, it } from 'vitest';
import type { ChainLog, ChainSpanMessage } from '../../actors/chain/spans/chainSpan.ts';
import { buildChainMembers } from '../support/chain/chainMembers.ts';
import { fetchSpans } from '../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { startEconomy, type TestEconomy } from '../support/chain/testEconomy.ts';
import { readFeed } from '../support/http/readFeed.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { publishAll } from '../support/readings/readingMessages.ts';

/** Bodies of the chain's routes, without members that depend on the clock. */
async function readShown(miner: MinerProcess, economy: TestEconomy): Promise<string> {
  const paths = [
    '/v1/core',
    '/v1/mining/state',
    '/v2/public/miners/state',
    '/v1/settlements',
    ...economy.owners
      .slice(0, 3)
      .flatMap((owner) => ['miners', 'activity'].map((list) => `/v1/owners/${owner}/${list}?limit=100`)),
  ];
  const bodies = await Promise.all(paths.map((path) => miner.json<Record<string, unknown>>(path)));
  return JSON.stringify([bodies.map((body) => ({ ...body, generatedAt: null })), await events(miner)]);
}

/** All events of the chain in the feed by ID, without their recording times, which differ between streams. */
async function events(miner: MinerProcess) {
  const found = (await readFeed(miner.json)).map(({ recordedAt: _, ...event }) => event);
  return found.filter(({ id }) => id.startsWith('chain:')).sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Waits until the chain's newest block is published and folded. */
async function waitUntilFollowed(miner: MinerProcess, economy: TestEconomy) {
  const tip = Number(await economy.client.getBlockNumber({ cacheTime: 0 }));
  await eventually(
    async () => (await miner.metric('miner_chain_block{block="head"}')) === tip,
    `block ${tip} folded`,
  );
}

const spanPublication = (span: object) => ({ subject: 'miner.chain.31337.span', body: JSON.stringify(span) });

/** Streams and a data folder for services over a chain. */
async function serviceOver(economy: TestEconomy) {
  const nats = await startNats();
  const dataDir = temporaryDirectory();
  const start = () => startMiner({ natsUrl: nats.url, dataDir, onChain: buildChainMembers(economy) });
  return { nats, dataDir, start };
}

/** What an indexer alone publishes of a chain, and what a service shows of it. */
async function followHonestly(economy: TestEconomy) {
  const { nats, start } = await serviceOver(economy);
  const indexer = await startMiner({
    role: 'index',
    natsUrl: nats.url,
    dataDir: temporaryDirectory(),
    onChain: buildChainMembers(economy),
    environment: { MINER_RPC_URL: economy.url },
  });
  const ingest = await start();
  await waitUntilReady(ingest);
  await waitUntilFollowed(ingest, economy);
  expect((await fetch(`${indexer.operatorUrl}/readyz`)).status).toBe(200);
  const spans = await fetchSpans(await connectTo(nats));
  const shown = await readShown(ingest, economy);
  for (const process of [indexer, ingest]) expect(await process.end('SIGTERM')).toBe(0);
  return { spans, shown };
}

describe('the chain, end to end', () => {
  it('is repaired where a node left out or repeated logs', async () => {
    const economy = await startEconomy();
    const random = createRandomEconomy(economy, 61);
    await random.open();
    for (let step = 0; step < 45; step++) await random.step();
    const honest = await followHonestly(economy);
    const { nats, dataDir, start } = await serviceOver(economy);
    const isSettlement = ({ topics }: ChainLog) =>
      topics[0] === toEventSelector('RoundMinted(uint64,uint64,uint256,uint256,uint256)');
    const lies: ((logs: readonly ChainLog[]) => ChainLog[])[] = [
      () => [],
      (logs) => [logs[0] as ChainLog, ...logs],
    ];
    const wrongBlocks: bigint[] = [];
    const spans = honest.spans.map((span) => ({
      ...span,
      blocks: span.blocks.map((block) => {
        const lie = lies[wrongBlocks.length];
        if (lie === undefined || !block.logs.some(isSettlement)) return block;
        wrongBlocks.push(BigInt(block.number));
        return { ...block, logs: lie(block.logs) };
      }),
    }));
    const miner = await start();
    await waitUntilReady(miner);
    const { connection, jsm } = await connectTo(nats);
    await publishAll(connection, spans.map(spanPublication));
    await waitUntilFolded(miner, spans.length, 'MINER_CHAIN');
    const before = await readShown(miner, economy).catch(() => 'unavailable');

    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir, buildChainMembers(economy)),
      MINER_RPC_URL: economy.url,
    };
    // Of the two the one that leaves something out comes first.
    const command = ['index', '--from-block', String(wrongBlocks[0])];
    const indexer = startMinerCommand(command, { ...environment, MINER_OPS_PORT: '0' });
    const tip = await economy.client.getBlockNumber({ cacheTime: 0 });
    const lastSequence = await eventually(async () => {
      const { state } = await jsm.streams.info('MINER_CHAIN');
      const last = await jsm.streams.getMessage('MINER_CHAIN', { seq: state.last_seq });
      const span = last?.json<ChainSpanMessage>();
      return span?.fork === 1 && BigInt(span.toBlock) === tip ? state.last_seq : null;
    }, 'the repair');
    await waitUntilFolded(miner, lastSequence, 'MINER_CHAIN');
    expect(await indexer.end('SIGTERM')).toBe(0);
    const after = await readShown(miner, economy);
    expect(after).not.toBe(before);
    expect(after).toBe(honest.shown);
  });
});
