import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildChainDeployment } from '../support/chain/foldedChain.ts';
import { startIndexed } from '../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../support/chain/randomEconomy.ts';
import { chainGenesis, startEconomy } from '../support/chain/testEconomy.ts';
import { genesisMs } from '../support/genesis.ts';
import { fetchMessages } from '../support/processes/natsServer.ts';
import { runs } from '../support/propertyRuns.ts';
import { compareChainRoutes } from '../support/reference/chainRoutes.ts';
import { startComparedProgram, withComparedProgram } from '../support/reference/comparedProgram.ts';
import {
  createComparedWorld,
  worldDeployment,
  worldOwners,
  worldStep,
} from '../support/reference/comparedWorld.ts';

/** Routes that join the readings, the pipeline and the chain. */
const joined = [
  '/v4/public/process',
  '/v1/status',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
];

describe('routes of the chain, and those that join it with the other streams', () => {
  it('are the reference’s after each step of a random world, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(true, true, true, false),
        fc.nat(),
        fc.array(worldStep, { minLength: 1, maxLength: 9, size: 'max' }),
        async (hasChain, seed, steps) =>
          withComparedProgram(worldDeployment(hasChain), genesisMs, async (program) => {
            const world = await createComparedWorld(program, seed);
            for (const step of steps) {
              await world.apply(step);
              world.settle();
              for (const path of joined) await program.compare(path);
              await compareChainRoutes(program, worldOwners, world.random.integer(1, 9));
            }
          }),
      ),
      { numRuns: runs(10), interruptAfterTimeLimit: runs(120_000) },
    );
  });

  it('are the reference’s over the logs of the contracts themselves', async () => {
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
});
