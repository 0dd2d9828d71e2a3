import fc from 'fast-check';
import { describe, it } from 'vitest';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { withComparedProgram } from '../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment, worldStep } from '../support/reference/comparedWorld.ts';

const paths = [
  '/v4/public/process',
  '/v1/status',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
  '/v1/core',
];

describe('process, status and core', () => {
  it.each([true, false])(
    'are the reference’s after each step of a random world (with a chain: %s)',
    async (hasChain) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), fc.array(worldStep, { maxLength: 12, size: 'max' }), async (seed, steps) =>
          withComparedProgram(worldDeployment(hasChain), genesisMs, async (program) => {
            const world = await createComparedWorld(program, seed);
            for (const step of steps) {
              await world.apply(step);
              world.settle();
              for (const path of paths) await program.compare(path);
            }
          }),
        ),
        { numRuns: runs(hasChain ? 12 : 6), interruptAfterTimeLimit: runs(120_000) },
      );
    },
  );
});
