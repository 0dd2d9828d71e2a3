import { describe, expect, it } from 'vitest';
import { ensureStreams } from '../../streams/ensureStreams.ts';
import { bloomClaims, bloomOf } from '../../streams/logsBloom.ts';
import { eventually } from '../support/childProcess.ts';
import { foldSpans, publishedSpans, startIndexed, startIndexer } from '../support/indexedChain.ts';
import { judge } from '../support/judge.ts';
import { type Lie, startLyingNode } from '../support/lyingNode.ts';
import { connectTo, startNats, type TestConnection } from '../support/natsServer.ts';
import { createRandomEconomy } from '../support/randomEconomy.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { startEconomy, type TestEconomy } from '../support/testEconomy.ts';

async function emptyStreams(): Promise<TestConnection> {
  const nats = await connectTo(await startNats());
  await ensureStreams(nats.jsm, { retentionDays: 0 }, silentLogger);
  return nats;
}

async function economyOf(steps: number, seed = 5): Promise<TestEconomy> {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, seed);
  await random.open();
  for (let step = 0; step < steps; step++) await random.step();
  return economy;
}

/** The newest safe state is what the contracts say: nothing wrong was published. */
async function expectRight(economy: TestEconomy, nats: TestConnection) {
  const { state, rejections } = await foldSpans(economy, nats);
  expect(rejections).toEqual([]);
  await judge(economy, state.safe.at(-1) as never);
}

describe('indexer', () => {
  it('catches up in large spans and follows block by block, linked from the deployment on', async () => {
    const economy = await economyOf(100);
    const nats = await emptyStreams();
    const { caughtUp, indexer } = startIndexer(economy, nats);
    await caughtUp();
    const spans = await publishedSpans(nats);
    expect(spans[0]?.fromBlock).toBe(String(economy.deployed.deploymentBlock));
    let previous = spans[0];
    for (const span of spans.slice(1)) {
      expect(BigInt(span.fromBlock)).toBe(BigInt(previous?.toBlock ?? 0) + 1n);
      expect(span.parentHash).toBe(previous?.hash);
      previous = span;
    }
    const tip = await economy.client.getBlockNumber({ cacheTime: 0 });
    expect(spans.filter(({ fromBlock, toBlock }) => fromBlock === toBlock).length).toBeGreaterThanOrEqual(64);
    expect(spans.length).toBeLessThan(Number(tip));
    expect(indexer.status()).toMatchObject({
      state: 'following',
      head: tip,
      reorganizations: 0,
      lostRaces: 0,
    });
    await expectRight(economy, nats);
  });

  it('goes on from the stream’s last span after it was stopped, and publishes nothing twice', async () => {
    const economy = await economyOf(30);
    const { nats, caughtUp, stop } = await startIndexed(economy);
    await caughtUp();
    await stop();
    const random = createRandomEconomy(economy, 99);
    for (let step = 0; step < 10; step++) await random.step();
    const again = startIndexer(economy, nats);
    await again.caughtUp();
    const spans = await publishedSpans(nats);
    const blocks = spans.map(({ toBlock }) => toBlock);
    expect(new Set(blocks).size).toBe(blocks.length);
    await expectRight(economy, nats);
  });

  it('cannot interleave with another indexer on the same stream', async () => {
    const economy = await economyOf(40);
    const nats = await emptyStreams();
    const both = [startIndexer(economy, nats), startIndexer(economy, nats)];
    const random = createRandomEconomy(economy, 98);
    for (let step = 0; step < 40; step++) await random.step();
    await Promise.all(both.map(({ caughtUp }) => caughtUp()));
    const lost = both.map(({ indexer }) => indexer.status().lostRaces);
    expect((lost[0] ?? 0) + (lost[1] ?? 0)).toBeGreaterThan(0);
    const spans = await publishedSpans(nats);
    let previous = spans[0];
    for (const span of spans.slice(1)) {
      expect(span.parentHash).toBe(previous?.hash);
      previous = span;
    }
    await expectRight(economy, nats);
  });

  it('publishes nothing from a node of another chain', async () => {
    const economy = await economyOf(25);
    const node = await startLyingNode(economy.url);
    node.lie = (method) => (method === 'eth_chainId' ? { result: '0x1' } : null);
    const nats = await emptyStreams();
    const { indexer, caughtUp } = startIndexer(economy, nats, node.url);
    await eventually(() => indexer.status().providerFailures > 1, 'two refusals');
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(0);
    expect(['failing', 'connecting']).toContain(indexer.status().state);
    node.lie = () => null;
    await caughtUp();
    await expectRight(economy, nats);
  });

  it.each<[string, (method: string, params: readonly never[], result: never) => Lie]>([
    ['leaves out the logs of a block', (method) => (method === 'eth_getLogs' ? { result: [] } : null)],
    [
      'leaves out one log of a block',
      (method, _params, result) =>
        method === 'eth_getLogs' && (result as unknown[])?.length > 1
          ? { result: (result as unknown[]).slice(1) }
          : null,
    ],
    [
      'gives the logs of another block',
      (method, _params, result) =>
        method === 'eth_getLogs' && (result as unknown[])?.length > 0
          ? { result: (result as object[]).map((log) => ({ ...log, blockHash: `0x${'7'.repeat(64)}` })) }
          : null,
    ],
    [
      'gives a block whose parent is another',
      (method, params, result) =>
        method === 'eth_getBlockByNumber' &&
        params[0] !== 'latest' &&
        (result as { number: string })?.number > '0x10'
          ? { result: { ...(result as object), parentHash: `0x${'8'.repeat(64)}` } }
          : null,
    ],
    ['asks to be asked less often', (method) => (method === 'eth_getLogs' ? { status: 429 } : null)],
    ['answers with half an answer', (method) => (method === 'eth_getBlockByNumber' ? 'half' : null)],
    [
      'gives an error',
      (method) =>
        method === 'eth_getLogs' ? { error: { code: -32000, message: 'header not found' } } : null,
    ],
    [
      'has no such block',
      (method, params) =>
        method === 'eth_getBlockByNumber' && params[0] !== 'latest' ? { result: null } : null,
    ],
  ])('waits while its node %s, and publishes nothing wrong', async (_what, lie) => {
    const economy = await economyOf(25);
    const node = await startLyingNode(economy.url);
    let isLying = true;
    // Every third call is honest, so that a wrong answer meets right ones.
    let calls = 0;
    node.lie = (...call) => (isLying && ++calls % 3 !== 0 ? lie(...call) : null);
    const nats = await emptyStreams();
    const { caughtUp, indexer } = startIndexer(economy, nats, node.url);
    await eventually(() => node.lies > 6 && indexer.status().providerFailures > 1, 'some stumbling', 60_000);
    isLying = false;
    await caughtUp();
    await expectRight(economy, nats);
  });

  it('gives up a call that hangs, and goes on', async () => {
    const economy = await economyOf(25);
    const node = await startLyingNode(economy.url);
    let hangs = 1;
    node.lie = (method) => (method === 'eth_getLogs' && hangs-- > 0 ? 'hang' : null);
    const nats = await emptyStreams();
    const { caughtUp, indexer } = startIndexer(economy, nats, node.url);
    await caughtUp();
    expect(indexer.status().providerFailures).toBe(1);
    await expectRight(economy, nats);
  });

  it('halves the range that a provider refuses', async () => {
    const economy = await economyOf(120);
    const node = await startLyingNode(economy.url);
    const ranges: number[] = [];
    node.lie = (method, params) => {
      const { fromBlock, toBlock } = (params[0] ?? {}) as { fromBlock?: string; toBlock?: string };
      if (method !== 'eth_getLogs' || fromBlock === undefined) return null;
      const blocks = Number(toBlock) - Number(fromBlock) + 1;
      ranges.push(blocks);
      return blocks > 10
        ? { error: { code: -32005, message: 'query returned more than 10000 results' } }
        : null;
    };
    const nats = await emptyStreams();
    const { caughtUp, indexer } = startIndexer(economy, nats, node.url);
    await caughtUp();
    expect(Math.max(...ranges)).toBeGreaterThan(10);
    expect(ranges.some((blocks) => blocks <= 10)).toBe(true);
    expect(indexer.status().providerFailures).toBe(0);
    await expectRight(economy, nats);
  });

  it('holds the view while its node lags or restarts with a lower tip: that is no reorganization', async () => {
    const economy = await economyOf(30);
    const node = await startLyingNode(economy.url);
    const nats = await emptyStreams();
    const { caughtUp, indexer } = startIndexer(economy, nats, node.url);
    await caughtUp();
    const { head } = indexer.status();
    const before = (await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq;
    const old = await economy.client.request({
      method: 'eth_getBlockByNumber',
      params: [`0x${((head ?? 0n) - 20n).toString(16)}`, false],
    } as never);
    node.lie = (method, params) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? { result: old } : null;
    await eventually(() => indexer.status().state === 'lagging', 'lagging');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(before);
    expect(indexer.status()).toMatchObject({ head, reorganizations: 0, providerFailures: 0 });
    node.lie = () => null;
    await economy.mine(12);
    await caughtUp();
    expect(indexer.status().reorganizations).toBe(0);
  });

  it('keeps to its branch while another one is not longer', async () => {
    const economy = await economyOf(30);
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    const before = (await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq;
    await economy.client.request({ method: 'anvil_rollback', params: [3] } as never);
    await economy.resetClock();
    for (let block = 0; block < 3; block++) await economy.mine(77);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(before);
    expect(indexer.status().reorganizations).toBe(0);
    await economy.mine(77);
    await caughtUp();
    expect(indexer.status().reorganizations).toBe(1);
    await expectRight(economy, nats);
  });
});

describe('logs bloom', () => {
  it('of all logs of a block is the header’s, and claims what it holds', async () => {
    const economy = await economyOf(10);
    const { client } = economy;
    const tip = await client.getBlockNumber({ cacheTime: 0 });
    let checked = 0;
    for (let blockNumber = 1n; blockNumber <= tip; blockNumber++) {
      const { logsBloom, hash } = await client.getBlock({ blockNumber });
      const logs = await client.getLogs({ blockHash: hash as `0x${string}` });
      const given = logs.map(({ address, topics }) => ({ address, topics: topics as string[] }));
      expect(bloomOf(given)).toBe(logsBloom);
      for (const { address } of logs) expect(bloomClaims(logsBloom as string, address)).toBe(true);
      checked += logs.length;
    }
    expect(checked).toBeGreaterThan(20);
    expect(bloomClaims(`0x${'0'.repeat(512)}`, economy.deployed.contracts.core)).toBe(false);
  });
});
