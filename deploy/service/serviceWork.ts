import type { Grant } from '../../machines/ingestMachine.ts';
import { createOldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import { dropRetiredRuns } from '../../storage/runs/retiredRuns.ts';
import { createSelfAudit } from '../../streams/audit/selfAudit.ts';
import { registerIndexerMetrics } from '../../streams/metrics/chainMetrics.ts';
import { registerPlaceMetrics } from '../../streams/metrics/placeMetrics.ts';
import { createFollowers } from '../../streams/work/followers.ts';
import { createStreamWork, type StreamWork } from '../../streams/work/streamWork.ts';
import type { ServiceContext } from './serviceContext.ts';

/** Builds the streams' followers, with the rights of a grant. */
export async function composeStreamWork(context: ServiceContext, { epoch }: Grant): Promise<StreamWork> {
  const { settings, actors, nats, ingest, streamGuard, counts, clock, logger, registry } = context;
  const database = ingest.databaseIn(epoch);
  const writer = epoch === null ? null : { epoch, holder: ingest.holder };
  const indexer = await createIndexer(context);
  const followers = createFollowers({
    jetStream: nats.jetStream(),
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
  const audit = await createAudit(context);
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

/** Null for a process without a node. */
async function createAudit({ settings, actors, registry, logger }: ServiceContext) {
  const { rpcUrl } = settings;
  const { onChain } = settings.deployment;
  if (rpcUrl === null || onChain === null) return null;
  const { createBlockAudit } = await import('../../streams/audit/auditBlock.ts');
  return createSelfAudit({
    safeStates: () => actors.MINER_CHAIN?.state.safe ?? [],
    auditBlock: createBlockAudit({ rpcUrl, ...onChain }),
    random: Math.random,
    registry,
    logger,
  });
}

/** Loads the node's client and proofs only here: that takes long, and most processes need neither. */
async function createIndexer({ settings, nats, registry, logger }: ServiceContext) {
  const { rpcUrl, deployment } = settings;
  const { onChain } = deployment;
  if (rpcUrl === null || onChain === null) return null;
  const { createDeploymentIndexer } = await import('../../streams/indexer/deploymentIndexer.ts');
  const { showIndexingProgress } = await import('../process/indexingProgress.ts');
  const indexer = createDeploymentIndexer({
    jetStream: nats.jetStream(),
    onChain,
    rpcUrl,
    logger,
    onProgress: showIndexingProgress(),
  });
  registerIndexerMetrics(registry, indexer);
  return indexer;
}
