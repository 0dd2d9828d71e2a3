import fc from 'fast-check';
import { it } from 'vitest';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { compareChainRoutes } from '../support/reference/compareChainRoutes.ts';
import { withComparedProgram } from '../support/reference/comparedProgram.ts';
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

it('quantities of a random world are the reference’s', async () => {
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
