import { numberToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import type { ChainLog, ChainSpanMessage } from '../../actors/chain/spans/chainSpan.ts';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { fetchSpans, foldSpans, startIndexed } from '../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { startEconomy, type TestEconomy } from '../support/chain/testEconomy.ts';
import { eventually } from '../support/processes/lifetime.ts';
import type { TestConnection } from '../support/processes/natsServer.ts';
import { startGeth } from './geth.ts';

/** Runs an economy on geth for a number of blocks. */
async function startLivingEconomy(steps: number, ...args: string[]) {
  const geth = await startGeth(...args);
  const economy = await startEconomy(geth);
  const random = createRandomEconomy(economy, 5);
  await random.open();
  for (let step = 0; step < steps; step++) await random.step();
  return { geth, economy, random };
}

/** Replaces the newest `depth` blocks by more blocks. `step` sends other transactions and mines a block. */
async function reorganize({ client, resetClock }: TestEconomy, depth: number, step: () => Promise<void>) {
  await client.request({ method: 'anvil_rollback', params: [depth] } as never);
  await client.request({ method: 'anvil_dropAllTransactions' } as never);
  await resetClock();
  for (let block = 0; block <= depth; block++) await step();
}

/** Expects that the published spans are folded, and hold every log of the contracts. */
async function expectRight(economy: TestEconomy, nats: TestConnection) {
  expect((await foldSpans(economy, nats)).rejections).toEqual([]);
  let published: ChainSpanMessage['blocks'] = [];
  for (const { fromBlock, blocks } of await fetchSpans(nats))
    published = [...published.filter(({ number }) => BigInt(number) < BigInt(fromBlock)), ...blocks];
  const { contracts, deploymentBlock } = economy.deployed;
  const range = { fromBlock: numberToHex(deploymentBlock), toBlock: 'latest' };
  const logs: ChainLog[] = await economy.client.request({
    method: 'eth_getLogs',
    params: [{ address: Object.values(contracts), ...range }],
  } as never);
  const select = ({ address, topics, data, transactionHash, logIndex }: ChainLog) => ({
    ...{ address, topics, data, transactionHash, logIndex: Number(logIndex) },
  });
  expect(published.flatMap((block) => block.logs.map(select))).toEqual(logs.map(select));
}

describe('the indexer on go-ethereum', () => {
  it('proves transactions of all types, and logs of other contracts, across forks', async () => {
    const { geth, economy } = await startLivingEconomy(100);
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    expect(indexer.status()).toMatchObject({ providerFailures: 0, reorganizations: 0 });
    await expectRight(economy, nats);

    const types = new Set<string>();
    const forks = new Set<string>();
    let others = 0;
    for (const { blocks } of await fetchSpans(nats))
      for (const { hash, logs } of blocks) {
        const block: Record<string, string> = await geth.request('eth_getBlockByHash', [hash, false]);
        forks.add('blockAccessListHash' in block ? 'amsterdam' : 'osaka');
        const receipts: { type: string; logs: object[] }[] = await geth.request('eth_getBlockReceipts', [
          hash,
        ]);
        for (const { type } of receipts) types.add(type);
        others += receipts.flatMap((receipt) => receipt.logs).length - logs.length;
      }
    expect([...types].sort()).toEqual(['0x0', '0x1', '0x2', '0x3', '0x4']);
    expect([...forks]).toEqual(['osaka', 'amsterdam']);
    expect(others).toBeGreaterThanOrEqual(100);
  });

  it('follows reorganizations of 1 to 40 blocks', async () => {
    // Just after `debug_setHead`, geth's log index still names removed blocks, also to the tests' own searches.
    const { economy, random } = await startLivingEconomy(45, '--history.logs.disable');
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    for (let depth = 1; depth <= 40; depth++) {
      await reorganize(economy, depth, random.step);
      await caughtUp();
      expect(indexer.status().reorganizations).toBe(depth);
      await expectRight(economy, nats);
    }
    const fresh = await startIndexed(economy);
    await fresh.caughtUp();
    await expectRight(economy, fresh.nats);
  });

  it('goes on after restarts of the node, also where it has lost its newest blocks', async () => {
    const { geth, economy, random } = await startLivingEconomy(60);
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    await geth.kill('SIGTERM');
    expect(await geth.restart()).toBe(0);
    await random.step();
    await caughtUp();

    await geth.kill('SIGKILL');
    await eventually(() => indexer.status().state === 'failing', 'a failure');
    expect(await geth.restart()).toBeGreaterThan(0);
    for (let step = 0; step < 5; step++) await random.step();
    await caughtUp();
    expect(indexer.status().reorganizations).toBe(0);
    await expectRight(economy, nats);
  });

  it('needs no old states, and no index of transactions or logs', async () => {
    const pruned = '--gcmode full --history.state 1 --history.transactions 1 --history.logs.disable';
    const { geth, economy } = await startLivingEconomy(160, ...pruned.split(' '));
    const { contracts, deploymentBlock } = economy.deployed;
    const old = `0x${deploymentBlock.toString(16)}`;
    await expect(geth.request('eth_getBalance', [contracts.core, old])).rejects.toThrow();
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    expect(indexer.status().providerFailures).toBe(0);
    await expectRight(economy, nats);
  });

  it.each([
    ['the calls of a batch', ['--rpc.batch-request-limit', '10']],
    ['the size of the answers to a batch', ['--rpc.batch-response-max-size', '20000']],
  ])('asks for less at once where the node limits %s', async (_what, limit) => {
    const { geth, economy } = await startLivingEconomy(100);
    await geth.kill('SIGTERM');
    await geth.restart(...limit);
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    await caughtUp();
    expect(indexer.status().providerFailures).toBe(0);
    // The comparison sends many requests at once.
    await geth.kill('SIGTERM');
    await geth.restart();
    await expectRight(economy, nats);
  });

  it('searches fewer blocks for logs at once where the node limits them', async () => {
    const { geth, economy } = await startLivingEconomy(100);
    await geth.kill('SIGTERM');
    await geth.restart('--rpc.rangelimit', '10');
    const { contracts } = economy.deployed;
    const reader = createChainReader({ url: geth.url, addresses: Object.values(contracts) });
    const { number } = await reader.tip();
    const search = reader.searchProposers(contracts.operatorTimelock, number + 1n);
    const { fromBlock, proposers } = await search({ fromBlock: number + 1n, proposers: [] });
    expect(fromBlock).toBe(0n);
    expect(proposers).toContainEqual({ account: economy.operator, isGranted: true });
  });
});
