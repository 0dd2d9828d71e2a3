import { expect, it } from 'vitest';
import { foldChain } from '../../support/chain/foldedChain.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';
import { refuseCalls } from '../../support/chain/writtenNode.ts';
import { eventually } from '../../support/processes/lifetime.ts';

it('a timelock older than the deployment block hides only core state', async () => {
  const started = await startEconomy();
  const { deployed } = started;
  for (let block = 0; block < 14; block++) await started.mine();
  const economy = { ...started, deployed: { ...deployed, deploymentBlock: deployed.deploymentBlock + 1n } };
  let isRefusing = true;
  refuseCalls(({ method }) => isRefusing && method === 'eth_getLogs');
  const chain = await foldChain(economy);
  await chain.fold();
  expect(chain.views.core()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
  expect(chain.views.issuance()).toMatchObject({ status: 'available' });
  isRefusing = false;
  const reads = () =>
    chain.nats.jsm.streams.getMessage('MINER_CHAIN', { last_by_subj: 'miner.chain.*.reads' });
  await eventually(async () => (await reads()) !== null, 'the reads');
  await chain.fold();
  expect(chain.views.core()).toMatchObject({
    status: 'available',
    governance: { operatorProposer: economy.operator },
  });
});
