import type { Clock } from '../../actors/clock.ts';
import { type ObservationReader, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import { createActorViews } from '../../actors/views/actorViews.ts';
import { createChainViews } from '../../actors/views/chain/chainViews.ts';
import type { StreamActors } from '../../streams/definitions/streamDefinitions.ts';
import type { StreamWork } from '../../streams/work/streamWork.ts';
import type { ServiceSettings } from './serviceSettings.ts';

interface ServiceViewsParts {
  readonly actors: StreamActors;
  /** Null until its tables are known. */
  readonly work: () => StreamWork | null;
  readonly clock: Clock;
}

type ViewSettings = Pick<ServiceSettings, 'deployment' | 'chainStaleAfterMs' | 'chainBehindAfterMs'>;

/** Creates what routes show: views of the folded state, and readers of what is stored. */
export function createServiceViews(settings: ViewSettings, { actors, work, clock }: ServiceViewsParts) {
  const { deployment, chainStaleAfterMs, chainBehindAfterMs } = settings;
  const chain = actors.MINER_CHAIN;
  const { installationId, onChain } = deployment;
  const genesisMs = deployment.genesisTimestamp * 1000;

  /** ClickHouse can be read once the tables are known. */
  function requireWork(): StreamWork {
    const current = work();
    if (current === null) throw new StoreUnavailable('ClickHouse is not open yet');
    return current;
  }

  const views = createActorViews({
    publicInstallationId: installationId,
    counters: actors.MINER_COUNTER,
    settlements: actors.MINER_PIPELINE,
    genesisMs,
    isCounterCurrent: () => work()?.followers.get('MINER_COUNTER')?.isCurrent ?? false,
    olderEvents: {
      before: async (...query) => requireWork().olderEvents.before(...query),
      after: async (...query) => requireWork().olderEvents.after(...query),
    },
    olderDay: async (...query) => requireWork().olderDay(...query),
    chain: createChainViews({
      installationId,
      onChain: chain === null || onChain === null ? null : { deployment: onChain, actors: chain },
      genesisMs,
      isCaughtUp: () => work()?.followers.get('MINER_CHAIN')?.wasCurrent ?? false,
      staleAfterMs: chainStaleAfterMs,
      behindAfterMs: chainBehindAfterMs,
      olderActivity: {
        read: async (...query) => requireWork().olderActivity.read(...query),
        ofTransaction: async (...query) => requireWork().olderActivity.ofTransaction(...query),
      },
      clock,
    }),
    clock,
  });
  const observations: ObservationReader = {
    page: (...query) => requireWork().observations.page(...query),
  };
  return { views, observations };
}
