import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { createSettlementActors, type SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createActorViews } from '../../actors/views/actorViews.ts';
import { createChainViews } from '../../actors/views/chain/chainViews.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { type CounterActors, createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { ObservationReader } from '../../storage/observationReader.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { Followers } from '../../streams/followers.ts';
import type { Deployment } from '../configuration/deploymentFile.ts';
import type { ServiceSettings } from './serviceSettings.ts';

/** What the messages of the three streams mean. */
export interface DomainActors {
  readonly counters: CounterActors;
  readonly settlements: SettlementActors;
  /** Null when no contracts are configured. */
  readonly chain: ChainActors | null;
}

export function createDomainActors({ genesisTimestamp, installationId, onChain }: Deployment): DomainActors {
  return {
    counters: createCounterActors({
      genesisMs: genesisTimestamp * 1000,
      publicInstallationId: installationId,
    }),
    settlements: createSettlementActors(),
    chain:
      onChain === null
        ? null
        : createChainActors({
            chainId: onChain.chain.chainId,
            contracts: onChain.contracts,
            deploymentBlock: onChain.chain.deploymentBlock,
          }),
  };
}

/** The identity of the fold of each stream that is followed. */
export function listFolds({ counters, settlements, chain }: DomainActors): [InputStreamName, FoldIdentity][] {
  return [
    ['MINER_COUNTER', counters.identity],
    ['MINER_PIPELINE', settlements.identity],
    ...(chain === null ? [] : [['MINER_CHAIN', chain.identity] satisfies [InputStreamName, FoldIdentity]]),
  ];
}

interface ServiceViewsOptions
  extends DomainActors,
    Pick<ServiceSettings, 'deployment' | 'chainStaleAfterMs' | 'chainBehindAfterMs'> {
  /** Null until their tables are known. */
  readonly followers: () => Followers | null;
  readonly clock: Clock;
}

/** What HTTP reads. */
interface ServiceViews {
  readonly views: ActorViews;
  readonly observations: ObservationReader;
}

export function createServiceViews(options: ServiceViewsOptions): ServiceViews {
  const {
    deployment,
    counters,
    settlements,
    chain,
    followers,
    chainStaleAfterMs,
    chainBehindAfterMs,
    clock,
  } = options;
  const { installationId, onChain } = deployment;

  /** ClickHouse can be read once the followers exist. */
  function expectFollowers(): Followers {
    const current = followers();
    if (current === null) throw new StorageUnavailable('ClickHouse is not open yet');
    return current;
  }

  const views = createActorViews({
    publicInstallationId: installationId,
    counters,
    settlements,
    genesisMs: deployment.genesisTimestamp * 1000,
    isCounterCaughtUp: () => followers()?.followers.get('MINER_COUNTER')?.isCurrent ?? false,
    olderEvents: {
      before: async (...query) => expectFollowers().olderEvents.before(...query),
      after: async (...query) => expectFollowers().olderEvents.after(...query),
      find: async (...query) => expectFollowers().olderEvents.find(...query),
      lastBefore: async (...query) => expectFollowers().olderEvents.lastBefore(...query),
    },
    chain: createChainViews({
      installationId,
      onChain: chain === null || onChain === null ? null : { deployment: onChain, actors: chain },
      isCaughtUp: () => followers()?.followers.get('MINER_CHAIN')?.isCaughtUp ?? false,
      staleAfterMs: chainStaleAfterMs,
      behindAfterMs: chainBehindAfterMs,
      olderActivity: { read: async (...query) => expectFollowers().olderActivity.read(...query) },
      clock,
    }),
    clock,
  });
  return { views, observations: { page: (...query) => expectFollowers().observations.page(...query) } };
}
