import fc from 'fast-check';
import { describe, it } from 'vitest';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { compareChainRoutes } from '../support/reference/chainRoutes.ts';
import { withComparedProgram } from '../support/reference/comparedProgram.ts';
import {
  createComparedWorld,
  worldDeployment,
  worldOwners,
  worldStep,
} from '../support/reference/comparedWorld.ts';

describe('routes of the chain', () => {
  it('are the reference’s after each step of a random world, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.array(worldStep, { minLength: 1, maxLength: 7, size: 'max' }),
        async (seed, steps) =>
          withComparedProgram(worldDeployment(), genesisMs, async (program) => {
            const world = await createComparedWorld(program, seed);
            for (const step of steps) {
              await world.apply(step);
              world.settle();
              await compareChainRoutes(program, worldOwners, world.random.integer(1, 9));
            }
          }),
      ),
      { numRuns: runs(10), interruptAfterTimeLimit: runs(120_000) },
    );
  });
});
