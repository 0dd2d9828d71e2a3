import type { Grant } from '../../machines/ingestMachine.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { createOldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import { dropRetiredRuns } from '../../storage/runs/retiredRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { createSelfAudit, registerAuditMetrics, type SelfAudit } from '../../streams/audit/selfAudit.ts';
import { registerIndexerMetrics } from '../../streams/metrics/chainMetrics.ts';
import { registerPlaceMetrics } from '../../streams/metrics/placeMetrics.ts';
import { createFollowers, type Followers } from '../../streams/work/followers.ts';
import { createStreamWork, type StreamWork } from '../../streams/work/streamWork.ts';
import type { ServiceContext } from './serviceContext.ts';

/** Builds the streams' followers, with the rights of a grant. */
export async function composeStreamWork(context: ServiceContext, { epoch }: Grant): Promise<StreamWork> {
  const { settings, actors, nats, ingest, streamGuard, counts, clock, logger, registry } = context;
  const database = ingest.databaseIn(epoch);
  const writer = epoch === null ? null : { epoch, holder: ingest.holder };
  const indexer = await createIndexer(context);
  const followers = createFollowers({
    ...nats.jetStream(),
    actors,
    database,
    oldestReadingMs: createOldestReadingMs(settings.readingsTtlDays, clock.nowMs),
    counts,
    writer,
    checkStreams: streamGuard.check,
    ...(settings.roles.ingest && { ensureStreams: ingest.ensureStreams, mayPublish: ingest.isHeld }),
    policy: settings.snapshots,
    clock,
    logger,
    registry,
  });
  registerPlaceMetrics(registry, actors);
  const audit = await createAudit(context, database, followers);
  return createStreamWork({
    followers,
    indexer,
    audit,
    auditSeconds: settings.auditSeconds,
    isDatabaseShared: database.kind === 'server',
    dropRuns:
      writer &&
      (() =>
        dropRetiredRuns({
          database,
          writer,
          writtenRuns: followers.writtenRuns,
          nowMs: clock.nowMs,
          logger,
        })),
  });
}

async function createAudit(
  { settings, actors, nats, clock, logger, registry }: ServiceContext,
  database: Database,
  { followers, recent, readReadingRuns: readRuns }: Followers,
) {
  const { rpcUrl } = settings;
  const { onChain, installationId, genesisTimestamp } = settings.deployment;
  const hasNode = rpcUrl !== null && onChain !== null;
  const isCurrent = () => followers.get('MINER_COUNTER')?.isCurrent ?? false;
  const audit: SelfAudit = createSelfAudit(
    {
      ...nats.jetStream(),
      database,
      readRuns,
      oldestReadingMs: createOldestReadingMs(settings.readingsTtlDays, clock.nowMs),
      genesisMs: genesisTimestamp * 1000,
      publicInstallationId: installationId,
      memory: () => (isCurrent() ? { recent, history: actors.MINER_COUNTER.history() } : null),
      snapshots: createSnapshotStore(database),
      safeStates: () => actors.MINER_CHAIN?.state.safe ?? [],
      blockAudit: hasNode
        ? (await import('../../streams/audit/auditBlock.ts')).createBlockAudit({ rpcUrl, ...onChain })
        : null,
      random: Math.random,
      logger,
    },
    registerAuditMetrics(registry, () => audit.drifts()),
  );
  return audit;
}

/** Loads the node's client and proofs only here: that takes long, and most processes need neither. */
async function createIndexer({ settings, nats, registry, logger }: ServiceContext) {
  const { rpcUrl, deployment } = settings;
  const { onChain } = deployment;
  if (rpcUrl === null || onChain === null) return null;
  const { createDeploymentIndexer } = await import('../../streams/indexer/deploymentIndexer.ts');
  const { showIndexingProgress } = await import('../process/indexingProgress.ts');
  const indexer = createDeploymentIndexer({
    ...nats.jetStream(),
    onChain,
    rpcUrl,
    logger,
    onProgress: showIndexingProgress(),
  });
  registerIndexerMetrics(registry, indexer);
  return indexer;
}
