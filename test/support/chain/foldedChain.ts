import { createChainActors } from '../../../actors/chain/chainActors.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { manualClock } from '../manualClock.ts';
import { fetchMessages } from '../processes/natsServer.ts';
import { startIndexed, testChainId } from './indexedChain.ts';
import { createTestChainViews } from './testChainViews.ts';
import type { TestEconomy } from './testEconomy.ts';
import { testRelease } from './testRelease.ts';

function buildChainDeployment({ deployed }: TestEconomy): ChainDeployment {
  const { contracts, deploymentBlock, economyDeploymentBlock } = deployed;
  return {
    release: testRelease,
    chain: { target: 'anvil', chainId: testChainId, deploymentBlock, economyDeploymentBlock },
    contracts,
  };
}

/** Release, chain and contracts as a deployment file has them. */
export function buildChainMembers(economy: TestEconomy): object {
  const { chain, ...members } = buildChainDeployment(economy);
  const texts = Object.entries(chain).map(([name, value]) => [name, String(value)]);
  return { ...members, chain: Object.fromEntries(texts) };
}

/** A chain's views over a real indexer: each `fold` brings them up to the chain's newest block. */
export async function foldChain(economy: TestEconomy) {
  const indexed = await startIndexed(economy);
  const deployment = buildChainDeployment(economy);
  const actors = createChainActors({ ...deployment.chain, contracts: deployment.contracts });
  const clock = manualClock();
  const views = createTestChainViews({ onChain: { deployment, actors }, clock });
  let position = 0;
  const fold = async () => {
    await indexed.caughtUp();
    for (const { seq, subject, data } of await fetchMessages(indexed.nats, 'MINER_CHAIN', position + 1)) {
      const timestampNanos = BigInt(clock.nowMs()) * 1_000_000n;
      actors.receive({ seq, subject, data, timestampNanos });
      position = seq;
    }
  };
  return { ...indexed, actors, views, clock, fold, deployment };
}
