import { encodeFunctionData, pad } from 'viem';
import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import type { ChainLog, ChainSpanMessage } from '../../actors/chain/spans/chainSpan.ts';
import { proxyAdminAbi } from '../../actors/chain/spans/contractAbis.ts';
import { readMetadata } from '../../actors/chain/state/tokenMetadata.ts';
import { buildSpans } from '../../streams/indexer/buildSpans.ts';
import { createSpanPublisher, type SpanPublisher } from '../../streams/indexer/spanPublisher.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { metadataEvent, plainMetadata } from '../support/chain/economyState.ts';
import { fetchSpans, foldSpans, indexedNode, startIndexer } from '../support/chain/indexedChain.ts';
import { serveChains, type WrittenNode, writeChain } from '../support/chain/writtenNode.ts';
import {
  buildEvent,
  buildHash,
  buildLog,
  buildSpan,
  buildSpanMessage,
  writtenContracts,
  writtenSettings,
} from '../support/chain/writtenSpans.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { writeNatsConfiguration } from '../support/processes/natsConfiguration.ts';
import { startStreams } from '../support/streams/startStreams.ts';

const startStreamsOf = (maxPayload: number) =>
  startStreams(temporaryDirectory(), `max_payload: ${maxPayload}`);

/** A node whose timelock has scheduled an upgrade of the core, with an argument of a given length, in a block that is safe. */
async function serveLargeUpgrade(bytes: number) {
  const { core, proxyAdmin, mining } = writtenContracts;
  const data = encodeFunctionData({
    abi: proxyAdminAbi,
    functionName: 'upgradeAndCall',
    args: [core, mining, pad('0x01', { size: bytes })],
  });
  const scheduled = buildEvent('operatorTimelock', 'CallScheduled', { target: proxyAdmin, data, delay: 60n });
  const [node] = serveChains(await writeChain([[], [], [scheduled], ...Array(13).fill([])]));
  return indexedNode(node as WrittenNode);
}

const mib = 1024 * 1024;

describe('a log of a contract', () => {
  it('that fits into no message is published and folded without its end, with what comes after', async () => {
    const node = await serveLargeUpgrade(700_000);
    const { nats } = await startStreamsOf(mib);
    const { caughtUp, indexer } = startIndexer(node, nats);
    await caughtUp();
    expect(indexer.status()).toMatchObject({ state: 'following', lostRaces: 0, providerFailures: 0 });
    const { state, rejections } = await foldSpans(node, nats);
    expect(rejections).toEqual([]);
    expect(state.head?.number).toBe(indexer.status().head);
    expect(state.safe.at(-1)?.governance.operation).toMatchObject({ kind: 'upgrade', state: 'scheduled' });
    const logs = (await fetchSpans(nats)).flatMap((span) => span.blocks.flatMap((block) => block.logs));
    expect(logs.filter(({ truncated }) => truncated !== undefined)).toHaveLength(1);
  });

  it('is not published while NATS does not take its beginning', async () => {
    const node = await serveLargeUpgrade(2_000);
    const { server, nats } = await startStreamsOf(2_048);
    const { caughtUp, indexer } = startIndexer(node, nats);
    await eventually(() => indexer.status().state === 'unpublishable', 'a span that cannot be published');
    expect(indexer.status().problem).toMatch(/span of blocks \d+ to \d+ has \d+ bytes.*2048.*max_payload/);
    expect(indexer.status().waitingFor).toBe('a setting or another version');
    await server.kill();
    writeNatsConfiguration(server.dir, Number(new URL(server.url).port));
    await server.start();
    await caughtUp();
    expect((await foldSpans(node, nats)).rejections).toEqual([]);
  });
});

/** A span of block 1 with these logs. */
function buildBlockSpan(logs: readonly ChainLog[]) {
  const block = { number: 1n, hash: buildHash(1), timestampMs: 1_000, logs };
  const headerAt = () => Promise.reject(new Error('no header is needed'));
  return { fromBlock: 1n, parentHash: buildHash(0), last: block, blocks: [block], headerAt };
}

it('a block in several messages is published again from its first part', async () => {
  const { nats } = await startStreamsOf(mib);
  const image = `data:image/svg+xml;base64,${'A'.repeat(200_000)}`;
  const logs = [7n, 8n].map((tokenId, index) =>
    buildLog(metadataEvent(tokenId, { ...plainMetadata, image }), index),
  );
  const span = buildBlockSpan(logs);
  let attempts = 0;
  const append: StreamPort['append'] = (...asked) =>
    ++attempts === 2 ? Promise.reject(new Error('no answer')) : nats.jetStream.append(...asked);
  const { chainId, contracts } = writtenSettings;
  const jetStream = { ...nats.jetStream, append };
  const publisher = createSpanPublisher({ jetStream, chainId, core: contracts.core });
  await publisher.resume();
  await expect(publisher.publish(span)).rejects.toThrow('not acknowledged');
  await publisher.resume();
  await publisher.publish(span);
  const spans = await fetchSpans(nats);
  expect(spans.map(({ part }) => part?.index)).toEqual([0, 0, 1]);
  const actors = createChainActors(writtenSettings);
  for (const [index, message] of spans.entries())
    expect(actors.receive(buildSpanMessage(message, index + 1))).not.toHaveProperty('rejection');
  expect(actors.state.head?.number).toBe(1n);
});

describe('metadata of a token', () => {
  it.each([
    ['of the largest image is shown', mib, 240_000],
    ['that fits into no message of NATS is unavailable, and nothing else', 64 * 1024, null],
  ])('%s', async (_what, messageBytesMax, imageLength) => {
    const image = `data:image/svg+xml;base64,${'A'.repeat(240_000 - 26)}`;
    const metadata = [metadataEvent(7n, { ...plainMetadata, image }), metadataEvent(8n, plainMetadata)].map(
      (event, index) => buildLog(event, index),
    );
    const span = buildBlockSpan(metadata);
    const actors = createChainActors(writtenSettings);
    const messages: ChainSpanMessage[] = [];
    for await (const message of buildSpans({ core: writtenContracts.core, fork: 0 }, span, messageBytesMax))
      messages.push(message);
    for (let number = 2; number <= 13; number++) messages.push(buildSpan({ number }));
    for (const [index, message] of messages.entries()) {
      expect(JSON.stringify(message).length).toBeLessThan(messageBytesMax);
      expect(actors.receive(buildSpanMessage(message, index + 1))).not.toHaveProperty('rejection');
    }
    const state = actors.newest();
    const collection = { ...state?.collection, metadataEpoch: 1n };
    const shown = (tokenId: number) => readMetadata({ ...state, collection } as never, tokenId);
    expect(shown(7)?.imageDataUri?.length ?? null).toBe(imageLength);
    expect(shown(8)?.name).toBe('Miner #1');
  });
});

it('a block is published again for another fork and for another core', async () => {
  const { nats } = await startStreams();
  const { chainId, contracts } = writtenSettings;
  const cores = [contracts.core, contracts.token];
  for (const core of cores) {
    const publisher = createSpanPublisher({ ...nats, chainId, core });
    await publisher.resume();
    await publisher.publish(buildBlockSpan([]));
    publisher.forkAt(0n);
    await publisher.publish(buildBlockSpan([]));
    // A fork that was not published does not count.
    publisher.forkAt(0n);
    await publisher.resume();
    await publisher.rewind(2n, async () => false);
    await publisher.publish(buildBlockSpan([]));
  }
  const published = (await fetchSpans(nats)).map(({ core, fork }) => `${core} ${fork}`);
  expect(published).toEqual(cores.flatMap((core) => [0, 1, 2].map((fork) => `${core} ${fork}`)));
});

it('reads of another core on the same chain, or of another block, are not the deployment’s own', async () => {
  const { nats } = await startStreams();
  const [mine, others] = [writtenContracts.core, writtenContracts.token].map((core) =>
    createSpanPublisher({ ...nats, chainId: writtenSettings.chainId, core }),
  ) as [SpanPublisher, SpanPublisher];
  const publish = ({ publishReads }: SpanPublisher, block: number) =>
    publishReads({ blockNumber: '1', blockHash: buildHash(block), fromBlock: '0', proposers: [] });
  await publish(others, 1);
  expect(await others.reads(buildHash(1))).toMatchObject({ fromBlock: '0' });
  expect(await mine.reads(buildHash(1))).toBeNull();
  for (const block of [1, 2]) {
    await publish(mine, block);
    expect(await mine.reads(buildHash(block))).not.toBeNull();
  }
  expect(await mine.reads(buildHash(1))).toBeNull();
});
