import { registerMetrics } from '../../actors/registerMetrics.ts';
import type { Readiness } from '../../actors/views/readiness.ts';
import { listFolds } from '../../streams/folds/streamDefinitions.ts';
import { registerAgeMetrics } from '../../streams/metrics/ageMetrics.ts';
import { registerFoldVersions, registerFollowerMetrics } from '../../streams/metrics/followerMetrics.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import type { ServiceContext } from './serviceContext.ts';

/** Registers what every process measures, whether or not it has streams to follow. */
export function registerServiceMetrics(context: ServiceContext, readiness: () => Readiness): void {
  const { settings, state, actors, ingest, nats, database, streamSettings, clock, registry } = context;
  const { MINER_COUNTER: counters, MINER_CHAIN: chain } = actors;
  const { installationId } = settings.deployment;
  registerFollowerMetrics(registry, () => state.work()?.followers ?? [], clock);
  registerFoldVersions(registry, listFolds(actors));
  registerAgeMetrics(registry, { counters, chain, installationId, clock });
  registerMetrics(registry, {
    miner_database_reachable: ['1 while ClickHouse answers.', () => state.database().isReachable],
    miner_ready: [
      '1 while `/readyz` says ready; absent for a standby.',
      () => {
        const { isReady, detail } = readiness();
        return 'standbyFor' in detail ? null : isReady;
      },
    ],
  });
  // A replica may not ask ClickHouse for its disks.
  if (!settings.roles.ingest) return;
  const { jetStream } = nats;
  const isStandby = () => ingest.standbyFor() !== null;
  registerStoreMetrics(registry, { database, jetStream, streamSettings, isStandby, clock });
}
