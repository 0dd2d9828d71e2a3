import { expect, it } from 'vitest';
import { buildChainDeployment } from '../support/chain/foldedChain.ts';
import { startIndexed } from '../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { chainGenesis, startEconomy } from '../support/chain/testEconomy.ts';
import { fetchMessages } from '../support/processes/natsServer.ts';
import { compareChainRoutes } from '../support/reference/chainRoutes.ts';
import { startComparedProgram } from '../support/reference/comparedProgram.ts';
import { worldDeployment } from '../support/reference/comparedWorld.ts';

it('quantities of the chain are the reference’s over the logs of the contracts themselves', async () => {
  const economy = await startEconomy();
  const indexed = await startIndexed(economy);
  const random = createRandomEconomy(economy, 5);
  await random.mintInEveryPhase();
  await random.open();
  for (let step = 0; step < 70; step++) await random.step();
  await random.upgrade(2n);
  for (let block = 0; block < 13; block++) await economy.mine();
  await indexed.caughtUp();
  const deployment = {
    ...worldDeployment(),
    genesisTimestamp: chainGenesis,
    onChain: buildChainDeployment(economy),
  };
  const program = await startComparedProgram(deployment, economy.nowSeconds() * 1000);
  for (const { subject, data } of await fetchMessages(indexed.nats, 'MINER_CHAIN'))
    program.store('MINER_CHAIN', subject, data);
  await compareChainRoutes(program, economy.owners.slice(0, 5), 7);
  expect(await program.compare('/v1/mining/state')).toMatchObject({
    status: 'available',
    livePositionCount: expect.stringMatching(/^[1-9]\d/),
  });
});
