import { createChainActors } from '../../actors/chain/chainActors.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type ChainDeployment, createChainViews } from '../../actors/views/chainViews.ts';
import { startIndexed, testChainId } from './indexedChain.ts';
import { manualClock } from './manualClock.ts';
import type { TestEconomy } from './testEconomy.ts';

export const testRelease = {
  id: 'release-1',
  protocolRevision: 'protocol-1',
  rewardModelRevision: 'rewards-1',
};

export function chainDeploymentOf({ deployed }: TestEconomy): ChainDeployment {
  const { contracts, deploymentBlock, economyDeploymentBlock } = deployed;
  return {
    release: testRelease,
    chain: { target: 'anvil', chainId: testChainId, deploymentBlock, economyDeploymentBlock },
    contracts,
  };
}

/** A chain's views over a real indexer: each `fold` brings them up to the chain's newest block. */
export async function foldChain(economy: TestEconomy, url = economy.url) {
  const indexed = await startIndexed(economy, url);
  const deployment = chainDeploymentOf(economy);
  const actors = createChainActors({ ...deployment.chain, contracts: deployment.contracts });
  const clock = manualClock();
  const settings = { isCaughtUp: true };
  const views = createChainViews({
    installationId: 'wheel-1',
    onChain: { deployment, actors },
    isCaughtUp: () => settings.isCaughtUp,
    staleAfterMs: 120_000,
    clock,
  });
  let position = 0;
  const fold = async () => {
    await indexed.caughtUp();
    const { state } = await indexed.nats.jsm.streams.info('MINER_CHAIN');
    for (position++; position <= state.last_seq; position++) {
      const stored = await indexed.nats.jsm.streams.getMessage('MINER_CHAIN', { seq: position });
      if (stored === null) continue;
      const message: StreamMessage = {
        seq: position,
        subject: stored.subject,
        data: stored.data,
        timestampNanos: BigInt(clock.nowMs()) * 1_000_000n,
      };
      actors.receive(message);
    }
    position = state.last_seq;
  };
  return { ...indexed, actors, views, clock, settings, fold, deployment };
}
