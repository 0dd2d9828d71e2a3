import { listFolds } from '../../streams/folds/streamDefinitions.ts';
import { registerDatabaseMetrics } from '../../streams/health/databaseWatch.ts';
import { registerAgeMetrics } from '../../streams/metrics/ageMetrics.ts';
import { registerFoldVersions, registerFollowerMetrics } from '../../streams/metrics/followerMetrics.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import type { ServiceContext } from './serviceContext.ts';

/** Registers what every process measures, whether or not it has streams to follow. */
export function registerServiceMetrics(context: ServiceContext): void {
  const { settings, state, actors, ingest, nats, database, streamSettings, clock, registry } = context;
  const { MINER_COUNTER: counters, MINER_CHAIN: chain } = actors;
  const { installationId } = settings.deployment;
  registerFollowerMetrics(registry, () => state.work()?.followers ?? [], clock);
  registerFoldVersions(registry, listFolds(actors));
  registerAgeMetrics(registry, { counters, chain, installationId, clock });
  registerDatabaseMetrics(registry, () => state.database().isReachable);
  // A replica may not ask ClickHouse for its disks.
  if (!settings.roles.ingest) return;
  const { jetStream } = nats;
  const isStandby = () => ingest.standbyFor() !== null;
  registerStoreMetrics(registry, { database, jetStream, streamSettings, isStandby, clock });
}
