import { expect, it } from 'vitest';
import { buildChainMembers } from '../support/chain/buildChainMembers.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { startMiner } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

it('a process follows the chain after each failure of its connection to the node', async () => {
  const economy = await startEconomy();
  const proxy = await startCuttingProxy(economy.url);
  const nats = await startNats();
  const dataDir = temporaryDirectory();
  const onChain = buildChainMembers(economy);

  proxy.refuse(true);
  const miner = await startMiner({
    natsUrl: nats.url,
    dataDir,
    onChain,
    environment: { MINER_RPC_URL: proxy.url },
  });
  const countFailures = async () =>
    (await miner.metric('miner_indexer_events_total{event="provider_failure"}')) ?? 0;
  const follows = async () => {
    await economy.mine();
    const tip = Number(await economy.client.getBlockNumber({ cacheTime: 0 }));
    await eventually(
      async () => (await miner.metric('miner_indexer_block{block="published"}')) === tip,
      `block ${tip} published`,
    );
  };
  await eventually(async () => (await countFailures()) > 3, 'several refused connections');
  proxy.refuse(false);
  await follows();
  proxy.silence();
  await follows();
  const failures = await countFailures();
  proxy.hold(true);
  await eventually(async () => (await countFailures()) > failures, 'a request without an answer');
  proxy.hold(false);
  await follows();
  await miner.end('SIGTERM');
  const lines = miner.output().split('\n').filter(Boolean);
  expect(lines.filter((line) => !(line.startsWith('{') && line.endsWith('}')))).toEqual([]);
});
