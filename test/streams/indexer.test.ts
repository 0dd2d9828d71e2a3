import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ChainSpanMessage } from '../../actors/chain/spans/chainSpan.ts';
import { proveHeader } from '../../streams/indexer/blockProof.ts';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { createIndexerWork } from '../../streams/indexer/indexerWork.ts';
import { createSpanPublisher } from '../../streams/indexer/spanPublisher.ts';
import {
  describeState,
  fetchSpans,
  foldSpans,
  startIndexed,
  startIndexer,
  testChainId,
} from '../support/chain/indexedChain.ts';
import { type AnswerMemory, type Lie, startLyingNode } from '../support/chain/lyingNode.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { startEconomy, type TestEconomy } from '../support/chain/testEconomy.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import type { TestConnection } from '../support/processes/natsServer.ts';
import { assertMatchesContracts } from '../support/reference/assertMatchesContracts.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { startStreams } from '../support/streams/startStreams.ts';

async function emptyStreams(): Promise<TestConnection> {
  return (await startStreams()).nats;
}

async function runEconomy(steps: number): Promise<TestEconomy> {
  const economy = await startEconomy();
  const random = createRandomEconomy(economy, 5);
  await random.open();
  for (let step = 0; step < steps; step++) await random.step();
  return economy;
}

/** A chain that no test changes: 75 blocks after the deployment, some of them far behind the tip. */
const stillEconomy = shareInFile(() => runEconomy(75));

/** The spans of that chain as an honest node gives them, and what they fold to. */
const honestly = shareInFile(async () => {
  const economy = await stillEconomy();
  const nats = await emptyStreams();
  const { caughtUp, indexer } = startIndexer(economy, nats);
  await caughtUp();
  await expectRight(economy, nats);
  const spans = await fetchSpans(nats);
  return { spans, status: indexer.status(), state: describeState((await foldSpans(economy, nats)).state) };
});

/** Expects the same of the still chain, so nothing wrong was published. */
async function expectHonest(nats: TestConnection, what?: string) {
  const { state, rejections } = await foldSpans(await stillEconomy(), nats);
  expect(rejections, what).toEqual([]);
  expect(describeState(state), what).toBe((await honestly()).state);
}

/** Expects the newest safe state to match the contracts, so nothing wrong was published. */
async function expectRight(economy: TestEconomy, nats: TestConnection) {
  const { state, rejections } = await foldSpans(economy, nats);
  expect(rejections).toEqual([]);
  await assertMatchesContracts(economy, state.safe.at(-1) as never);
}

/** Expects each span to begin after its predecessor. */
function expectLinked(spans: readonly ChainSpanMessage[]) {
  const ends = spans.map(({ toBlock, hash }) => [BigInt(toBlock) + 1n, hash]);
  const beginnings = spans.map(({ fromBlock, parentHash }) => [BigInt(fromBlock), parentHash]);
  expect(beginnings.slice(1)).toEqual(ends.slice(0, -1));
}

/** Replaces a node's result. */
type Tell = (method: string, params: readonly never[], result: never) => Lie;
type Logs = readonly Record<string, unknown>[];

/** Alters the logs in receipts; null if they have no logs. */
function withLogs(result: unknown, change: (logs: Logs) => Logs): Lie {
  const receipts = [result].flat() as { logs: Logs }[];
  if (!receipts.some(({ logs }) => logs.length > 0)) return null;
  const changed = receipts.map((one) => (one.logs.length === 0 ? one : { ...one, logs: change(one.logs) }));
  return { result: Array.isArray(result) ? changed : changed[0] };
}

const aboutReceipts =
  (change: (logs: Logs) => Logs): Tell =>
  (method, _params, result) =>
    method === 'eth_getBlockReceipts' ? withLogs(result, change) : null;

type Header = Record<string, string>;

/** Alters a member of headers. `rehashed` corrects their hashes, so that only the children reveal it. */
const aboutHeaders =
  (name: string, change: (value: string, header: Header) => string, rehashed = false): Tell =>
  (method, params, result) => {
    const header = result as Header | null;
    if (method !== 'eth_getBlockByNumber' || header === null || params[0] === 'latest') return null;
    const value = change(header[name] as string, header);
    if (value === header[name]) return null;
    const changed = { ...header, [name]: value };
    return { result: rehashed ? { ...changed, hash: computeHash(changed) } : changed };
  };

/** Finds the hash of a header in the error of its proof. */
function computeHash(header: Header): string {
  try {
    proveHeader({ ...header, hash: `0x${'0'.repeat(64)}` });
  } catch (error) {
    return /hashes to (0x[0-9a-f]{64})/.exec((error as Error).message)?.[1] ?? '';
  }
  return '';
}

const isFar = ({ number }: Header) => Number(number) > 1 && Number(number) < 20;

/** One lie for each way in which the indexer notices one. `blockProof.test.ts` has all lies about one block. */
const lies: [string, Tell][] = [
  ['leaves out the logs of a block', aboutReceipts(() => [])],
  [
    'gives the receipts of another block',
    (method, _params, result) =>
      method === 'eth_getBlockReceipts' && (result as unknown[])?.length > 0
        ? { result: (result as unknown[]).slice(1) }
        : null,
  ],
  [
    'gives other transactions',
    (method, params, result) => {
      const { transactions = [] } = (result ?? {}) as { transactions?: object[] };
      return method === 'eth_getBlockByNumber' && params[1] && transactions.length > 0
        ? {
            result: {
              ...(result as object),
              transactions: transactions.map((one) => ({ ...one, r: '0x1' })),
            },
          }
        : null;
    },
  ],
  ['alters the time of a block', aboutHeaders('timestamp', (value) => `${value.slice(0, -1)}1`)],
  [
    'hides the logs of a block far behind from its bloom, and gives it the hash for it',
    aboutHeaders('logsBloom', (value, header) => (isFar(header) ? `0x${'0'.repeat(512)}` : value), true),
  ],
  [
    'gives a block far behind whose parent is another, and the hash for it',
    aboutHeaders('parentHash', (value, header) => (isFar(header) ? `0x${'8'.repeat(64)}` : value), true),
  ],
  ['asks to be asked less often', (method) => (method === 'eth_getBlockReceipts' ? { status: 429 } : null)],
  ['answers with half an answer', (method) => (method === 'eth_getBlockByNumber' ? 'half' : null)],
  [
    'has no such block',
    (method, params) =>
      method === 'eth_getBlockByNumber' && params[0] !== 'latest' ? { result: null } : null,
  ],
];

it('a repair begins once, however often the stream is read again', async () => {
  const economy = await stillEconomy();
  const nats = await emptyStreams();
  const { contracts, deploymentBlock } = economy.deployed;
  const work = createIndexerWork({
    reader: createChainReader({ url: economy.url, addresses: Object.values(contracts) }),
    publisher: createSpanPublisher({ ...nats, chainId: testChainId, core: contracts.core }),
    chainId: testChainId,
    deploymentBlock,
    repairFrom: deploymentBlock,
    timelock: contracts.operatorTimelock,
    logger: silentLogger,
  });
  expect(await work.resume()).toBeNull();
  await work.compare();
  await firstValueFrom(work.publishBlocks());
  await work.whenIdle();
  expect(await work.resume()).toBe(deploymentBlock);
});

describe('indexer', () => {
  it('catches up in large spans and follows block by block, linked from the deployment on', async () => {
    const economy = await stillEconomy();
    const { spans, status } = await honestly();
    expect(spans[0]?.fromBlock).toBe(String(economy.deployed.deploymentBlock));
    expectLinked(spans);
    const tip = await economy.client.getBlockNumber({ cacheTime: 0 });
    expect(spans.filter(({ fromBlock, toBlock }) => fromBlock === toBlock).length).toBeGreaterThanOrEqual(64);
    expect(spans.length).toBeLessThan(Number(tip));
    expect(status).toMatchObject({ state: 'following', head: tip, reorganizations: 0, lostRaces: 0 });
  });

  it('cannot interleave with another indexer on the same stream', async () => {
    const economy = await runEconomy(40);
    const nats = await emptyStreams();
    const both = [startIndexer(economy, nats), startIndexer(economy, nats)];
    const random = createRandomEconomy(economy, 98);
    for (let step = 0; step < 40; step++) await random.step();
    await Promise.all(both.map(({ caughtUp }) => caughtUp()));
    const lost = both.map(({ indexer }) => indexer.status().lostRaces);
    expect((lost[0] ?? 0) + (lost[1] ?? 0)).toBeGreaterThan(0);
    expectLinked(await fetchSpans(nats));
    await expectRight(economy, nats);
  });

  it('publishes nothing from a node of another chain', async () => {
    const economy = await stillEconomy();
    const node = await startLyingNode(economy.url);
    node.lie = (method) => (method === 'eth_chainId' ? { result: '0x1' } : null);
    const nats = await emptyStreams();
    const { indexer } = startIndexer(economy, nats, node.url);
    await eventually(() => indexer.status().providerFailures > 1, 'two refusals');
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(0);
  });

  it('waits while its node lies or fails in any way, and publishes nothing wrong', async () => {
    const economy = await stillEconomy();
    const memory: AnswerMemory = new Map();
    for (const [what, tell] of lies) {
      const node = await startLyingNode(economy.url, memory);
      let isLying = true;
      // Every third answer is true, so that wrong ones are mixed with right ones.
      let answers = 0;
      node.lie = (...call) => {
        const lie = isLying ? tell(...call) : null;
        return lie !== null && ++answers % 3 !== 0 ? lie : null;
      };
      const nats = await emptyStreams();
      const { caughtUp, indexer, stop } = startIndexer(economy, nats, node.url);
      const hasStumbled = () => node.lies > 6 && indexer.status().providerFailures > 1;
      await eventually(hasStumbled, `some stumbling over a node that ${what}`);
      isLying = false;
      await caughtUp();
      await stop();
      expect(indexer.status().reorganizations, what).toBe(0);
      await expectHonest(nats, what);
    }
  });

  it('resumes after the stream’s last span, and publishes nothing twice, despite unlinked spans of another publisher', async () => {
    const economy = await runEconomy(20);
    const { nats, caughtUp, stop } = await startIndexed(economy);
    await caughtUp();
    await stop();
    const [span] = (await fetchSpans(nats)).slice(-1);
    for (const stray of [
      { ...span, fromBlock: '900000', toBlock: '900000' },
      { ...span, parentHash: `0x${'6'.repeat(64)}`, fork: 7 },
    ])
      await nats.js.publish('miner.chain.31337.span', JSON.stringify(stray));
    for (let block = 0; block < 3; block++) await economy.mine();
    const again = startIndexer(economy, nats);
    await again.caughtUp();
    expect(again.indexer.status()).toMatchObject({ reorganizations: 0, providerFailures: 0 });
    const { state } = await foldSpans(economy, nats);
    expect(state.head?.number).toBe(again.indexer.status().head);
    const blocks = (await fetchSpans(nats)).map(({ fork, toBlock }) => `${fork} ${toBlock}`);
    expect(new Set(blocks).size).toBe(blocks.length);
  });

  it('keeps its head while its node lags or restarts', async () => {
    const economy = await runEconomy(30);
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
    const liesBefore = node.lies;
    await eventually(() => node.lies > liesBefore + 2, 'more looks at the lower tip');
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(before);
    expect(indexer.status()).toMatchObject({ head, reorganizations: 0, providerFailures: 0 });
    node.lie = () => null;
    await economy.mine(12);
    await caughtUp();
    expect(indexer.status().reorganizations).toBe(0);
  });
});
