import { createSpanFold } from '../../../actors/chain/fold/spanFold.ts';
import { emptySpanFoldState } from '../../../actors/chain/fold/spanFoldState.ts';
import { type ChainSpanMessage, chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import { decodeChain } from '../../../actors/chain/spans/decodeChain.ts';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { createChainReader } from '../../../streams/indexer/chainReader.ts';
import { createIndexer } from '../../../streams/indexer/indexer.ts';
import { createSpanPublisher } from '../../../streams/indexer/spanPublisher.ts';
import { ensureStreams } from '../../../streams/jetstream/settings/ensureStreams.ts';
import { runMember } from '../../../streams/operators/runMember.ts';
import { eventually, whenFinished } from '../processes/lifetime.ts';
import { connectTo, fetchMessages, startNats, type TestConnection } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';
import type { TestEconomy } from './testEconomy.ts';
import type { WrittenNode } from './writtenNode.ts';
import { writtenContracts } from './writtenSpans.ts';

export const testChainId = 31_337n;

interface IndexedNode {
  readonly url: string;
  readonly deployed: Pick<TestEconomy['deployed'], 'contracts' | 'deploymentBlock'>;
  readonly client: { getBlockNumber(options: { readonly cacheTime: 0 }): Promise<bigint> };
}

/** What an indexer needs of a written node, whose contracts are deployed in block 1. */
export function indexedNode(node: WrittenNode): IndexedNode {
  return {
    url: node.url,
    deployed: { contracts: writtenContracts, deploymentBlock: 1n },
    client: { getBlockNumber: async () => BigInt(node.blocks.length - 1) },
  };
}

/** An indexer on a test's chain, until the test ends or it is stopped. */
export function startIndexer({ url, deployed, client }: IndexedNode, nats: TestConnection) {
  const { contracts, deploymentBlock } = deployed;
  const { operatorTimelock: timelock } = contracts;
  const publisher = createSpanPublisher({ ...nats, chainId: testChainId, core: contracts.core });
  const indexer = createIndexer({
    reader: createChainReader({ url, addresses: Object.values(contracts), requestMs: 2_000 }),
    publisher,
    chainId: testChainId,
    deploymentBlock,
    timelock,
    logger: silentLogger,
    timings: { pollMs: 50, rareRetryMs: 100, backoff: { firstMs: 50, longestMs: 100 } },
  });
  const running = runMember(indexer.member);
  const stop = async () => {
    await running.stop({ graceMs: 60_000 });
    await running.ended;
  };
  whenFinished(stop);
  return {
    indexer,
    stop,
    /** Resolves when the chain's newest block is published. */
    caughtUp: async () => {
      const tip = await client.getBlockNumber({ cacheTime: 0 });
      await eventually(() => indexer.status().head === tip, `block ${tip} published`);
    },
  };
}

export async function startIndexed(economy: TestEconomy) {
  const server = await startNats();
  const nats = await connectTo(server);
  await ensureStreams(nats.jetStream, { streams: streamNames, retentionDays: 0, logger: silentLogger });
  return { server, nats, ...startIndexer(economy, nats) };
}

/** The spans that a stream holds. */
export async function fetchSpans(nats: TestConnection): Promise<ChainSpanMessage[]> {
  const messages = await fetchMessages(nats, 'MINER_CHAIN');
  return messages
    .filter(({ subject }) => subject.endsWith('.span'))
    .map((message) => chainSpanMessage.parse(message.json()));
}

/** Folds a stream's spans. Also returns the refused spans. */
export async function foldSpans({ deployed }: IndexedNode, nats: TestConnection) {
  const { contracts, deploymentBlock } = deployed;
  const fold = createSpanFold({ chainId: testChainId, contracts, deploymentBlock, forkBlocks: new Set() });
  let state = emptySpanFoldState;
  const rejections: string[] = [];
  for (const { subject, data } of await fetchMessages(nats, 'MINER_CHAIN')) {
    const decoded = decodeChain(subject, data);
    if (decoded === null) continue;
    if ('rejection' in decoded) {
      rejections.push(decoded.rejection.detail);
      continue;
    }
    // Places and times in the stream are left out, so that folds of two streams can be compared.
    const outcome = fold.receive(state, decoded.value, { position: 0, storedAtMs: 0 });
    if ('rejection' in outcome) {
      rejections.push(outcome.rejection.detail);
      continue;
    }
    state = outcome.state;
  }
  return { state, rejections };
}
