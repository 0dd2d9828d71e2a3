import { describe, expect, it } from 'vitest';
import { coreAbi } from '../../../actors/chain/spans/contractAbis.ts';
import {
  type Frontier,
  projectFrontier,
  settleBatch,
  splitIntoBatches,
  type WorkedRound,
} from '../../../actors/chain/state/settlementArithmetic.ts';
import { createRandom } from '../../support/chain/randomEconomy.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';

describe('the arithmetic of settlements', () => {
  it('is the core contract’s, to the unit, over fifty batches and their difficulty changes', async () => {
    const economy = await startEconomy();
    const { actions, client, deployed, mine, settings } = economy;
    const read = { address: deployed.contracts.core, abi: coreAbi } as const;
    const configuration = { ...settings, maxRoundsPerBatch: 16n };
    const random = createRandom(50);
    await mine(3_600 + 600 * 1_200);
    let frontier: Frontier = {
      settledThroughRound: 0n,
      cumulativeWork: 0n,
      cumulativeBlockUnits: 0n,
      workPerThousandBlocks: settings.initialWorkPerThousandBlocks,
    };
    const difficulties = new Set([frontier.workPerThousandBlocks]);
    let round = 0n;
    for (let batch = 0; batch < 50; batch++) {
      const rounds: WorkedRound[] = Array.from({ length: 1 + Math.floor(random() * 22) }, () => {
        round++;
        // From no work through very little to the maximum of a round.
        const workUnits = random() < 0.3 ? 0n : BigInt(1 + Math.floor(random() ** 6 * 999_999));
        return { roundId: round, workUnits };
      });
      const batches = splitIntoBatches(rounds, 16n);
      const expectedAfterAll = projectFrontier(frontier, rounds, configuration);
      for (const one of batches) {
        const expected = settleBatch(frontier, one, configuration);
        await actions.settle({
          previousSettledThroughRound: frontier.settledThroughRound,
          settledThroughRound: one.throughRound,
          active: one.active,
          nonce: await client.readContract({ ...read, functionName: 'authorizationNonce' }),
        });
        await mine(12);
        const chain: Frontier = {
          settledThroughRound: await client.readContract({ ...read, functionName: 'settledThroughRound' }),
          cumulativeWork: await client.readContract({ ...read, functionName: 'cumulativeWork' }),
          cumulativeBlockUnits: await client.readContract({ ...read, functionName: 'cumulativeBlockUnits' }),
          workPerThousandBlocks: await client.readContract({
            ...read,
            functionName: 'workPerThousandBlocks',
          }),
        };
        expect(expected).toEqual(chain);
        frontier = chain;
        difficulties.add(chain.workPerThousandBlocks);
      }
      expect(frontier).toEqual(expectedAfterAll);
    }
    expect(difficulties.size).toBeGreaterThan(5);
  });
});
