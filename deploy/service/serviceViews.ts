import type { Clock } from '../../actors/clock.ts';
import { type ObservationReader, RecordsUnavailable } from '../../actors/pages/olderRows.ts';
import { createActorViews } from '../../actors/views/actorViews.ts';
import { createChainViews } from '../../actors/views/chain/chainViews.ts';
import type { StreamActors } from '../../streams/folds/streamDefinitions.ts';
import type { Followers } from '../../streams/work/followers.ts';
import type { ServiceSettings } from './serviceSettings.ts';

interface ServiceViewsOptions
  extends Pick<ServiceSettings, 'deployment' | 'chainStaleAfterMs' | 'chainBehindAfterMs'> {
  readonly actors: StreamActors;
  /** Null until their tables are known. */
  readonly followers: () => Followers | null;
  readonly clock: Clock;
}

export function createServiceViews(options: ServiceViewsOptions) {
  const { actors, deployment, followers, chainStaleAfterMs, chainBehindAfterMs, clock } = options;
  const chain = actors.MINER_CHAIN;
  const { installationId, onChain } = deployment;

  /** ClickHouse can be read once the followers exist. */
  function expectFollowers(): Followers {
    const current = followers();
    if (current === null) throw new RecordsUnavailable('ClickHouse is not open yet');
    return current;
  }

  const views = createActorViews({
    publicInstallationId: installationId,
    counters: actors.MINER_COUNTER,
    settlements: actors.MINER_PIPELINE,
    genesisMs: deployment.genesisTimestamp * 1000,
    isCounterCurrent: () => followers()?.followers.get('MINER_COUNTER')?.isCurrent ?? false,
    olderEvents: {
      before: async (...query) => expectFollowers().olderEvents.before(...query),
      after: async (...query) => expectFollowers().olderEvents.after(...query),
    },
    olderDay: async (...query) => expectFollowers().olderDay(...query),
    chain: createChainViews({
      installationId,
      onChain: chain === null || onChain === null ? null : { deployment: onChain, actors: chain },
      isCaughtUp: () => followers()?.followers.get('MINER_CHAIN')?.wasCurrent ?? false,
      staleAfterMs: chainStaleAfterMs,
      behindAfterMs: chainBehindAfterMs,
      olderActivity: { read: async (...query) => expectFollowers().olderActivity.read(...query) },
      clock,
    }),
    clock,
  });
  const observations: ObservationReader = {
    page: (...query) => expectFollowers().observations.page(...query),
  };
  return { views, observations };
}
