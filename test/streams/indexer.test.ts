import { describe, expect, it } from 'vitest';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { createIndexerWork } from '../../streams/indexer/indexerWork.ts';
import { createSpanPublisher } from '../../streams/indexer/spanPublisher.ts';
import { answerCall } from '../simulation/chain/answerCall.ts';
import { lie } from '../simulation/chain/lies.ts';
import { createRandom } from '../simulation/world/random.ts';
import { fetchSpans, indexedNode, startIndexer, testChainId } from '../support/chain/indexedChain.ts';
import { serveChains, type WrittenNode, writeChain } from '../support/chain/writtenNode.ts';
import { writtenContracts } from '../support/chain/writtenSpans.ts';
import { eventually } from '../support/processes/lifetime.ts';
import type { TestConnection } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { startStreams } from '../support/streams/startStreams.ts';

const deploymentBlock = 1n;
const event = { contract: 'core', name: 'Initialized', args: { version: 1n } } as const;
/** Some blocks hold logs, and some are far behind the tip. */
const chain = await writeChain(Array.from({ length: 150 }, (_, at) => (at % 4 === 0 ? [event] : [])));

/** A node whose chain ends with this block, and an empty stream. */
async function serve(tip = 149) {
  const [node] = serveChains(chain.slice(0, tip + 1)) as [WrittenNode];
  const { nats } = await startStreams();
  return { node, nats };
}

const index = (node: WrittenNode, nats: TestConnection) => startIndexer(indexedNode(node), nats);

/** Expects the spans to be the node's chain: each begins after its predecessor, and all logs are in them. */
async function expectWhole({ blocks }: WrittenNode, nats: TestConnection, what?: string) {
  const spans = await fetchSpans(nats);
  const ends = spans.map(({ toBlock, hash }) => [BigInt(toBlock) + 1n, hash]);
  const beginnings = spans.map(({ fromBlock, parentHash }) => [BigInt(fromBlock), parentHash]);
  expect(beginnings, what).toEqual([[deploymentBlock, blocks[0]?.hash], ...ends.slice(0, -1)]);
  const published = spans.flatMap((span) => span.blocks.map(({ hash, logs }) => [hash, logs.length]));
  const held = blocks.slice(1).filter(({ events }) => events.length > 0);
  expect(published, what).toEqual(held.map(({ hash, events }) => [hash, events.length]));
  return spans;
}

it('a repair begins once, however often the stream is read again, and publishes nothing more once cancelled', async () => {
  const { node, nats } = await serve();
  const { core, operatorTimelock: timelock } = writtenContracts;
  const cancelling = new AbortController();
  const publisher = createSpanPublisher({ ...nats, chainId: testChainId, core });
  const work = createIndexerWork({
    reader: createChainReader({ url: node.url, addresses: Object.values(writtenContracts) }),
    publisher,
    chainId: testChainId,
    deploymentBlock,
    repairFrom: deploymentBlock,
    timelock,
    logger: silentLogger,
    onPublished: () => cancelling.abort(),
  });
  await work.resume();
  expect(publisher.published()).toEqual([]);
  await work.compare();
  await expect(work.publishBlocks(cancelling)).rejects.toThrow(/aborted/);
  await work.resume();
  expect(publisher.published().map(({ number }) => number)).toEqual([deploymentBlock]);
});

describe('indexer', () => {
  it('catches up in large spans and follows block by block, linked from the deployment on', async () => {
    const { node, nats } = await serve();
    const { caughtUp, indexer } = index(node, nats);
    await caughtUp();
    const spans = await expectWhole(node, nats);
    expect(spans.filter(({ fromBlock, toBlock }) => fromBlock === toBlock)).toHaveLength(64);
    expect(spans).toHaveLength(65);
    expect(indexer.status()).toMatchObject({
      state: 'following',
      head: 149n,
      reorganizations: 0,
      lostRaces: 0,
    });
  });

  it('publishes nothing from a node of another chain', async () => {
    const { node, nats } = await serve();
    node.onCall = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : null);
    const { indexer } = index(node, nats);
    await eventually(() => indexer.status().providerFailures > 1, 'two refusals');
    expect((await nats.jsm.streams.info('MINER_CHAIN')).state.last_seq).toBe(0);
  });

  it('waits while its node lies or fails in any way, and publishes nothing wrong', async () => {
    const random = createRandom('lies');
    for (let round = 0; round < 8; round++) {
      const { node, nats } = await serve();
      let lies = 0;
      node.onCall = (call) => {
        // Wrong answers are mixed with right ones.
        if (!random.oneOf(20)) return null;
        lies++;
        if (random.oneOf(3)) return { status: random.pick([429, 502]) };
        return lie(random, chain, call, answerCall(chain, call));
      };
      const { caughtUp, indexer, stop } = index(node, nats);
      const hasStumbled = () => lies > 6 && indexer.status().providerFailures > 1;
      await eventually(hasStumbled, `some stumbling in round ${round}`);
      node.onCall = () => null;
      await caughtUp();
      await stop();
      expect(indexer.status().reorganizations, `round ${round}`).toBe(0);
      await expectWhole(node, nats, `round ${round}`);
    }
  });

  it('resumes after the stream’s last span, and publishes nothing twice, despite unlinked spans of another publisher', async () => {
    const { node, nats } = await serve(100);
    const { caughtUp, stop } = index(node, nats);
    await caughtUp();
    await stop();
    const spans = await expectWhole(node, nats);
    const span = spans.at(-1);
    for (const stray of [
      { ...span, fromBlock: '900000', toBlock: '900000' },
      { ...span, parentHash: `0x${'6'.repeat(64)}`, fork: 7 },
    ])
      await nats.js.publish('miner.chain.31337.span', JSON.stringify(stray));
    node.blocks = chain.slice(0, 104);
    const again = index(node, nats);
    await again.caughtUp();
    expect(again.indexer.status()).toMatchObject({ reorganizations: 0, providerFailures: 0 });
    const added = (await fetchSpans(nats)).slice(spans.length + 2);
    expect(added.map(({ fork, toBlock }) => `${fork} ${toBlock}`)).toEqual(['0 101', '0 102', '0 103']);
  });
});
