import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Actor, createActor, fromObservable, fromPromise, waitFor } from 'xstate';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { Clock } from '../../actors/clock.ts';
import type { Readiness } from '../../actors/views/readiness.ts';
import { formatAuthority } from '../../http/server/engine/listener.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { createPublicServer } from '../../http/server/publicServer.ts';
import { createAccessLog } from '../../http/server/requests/answeredRequest.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { createServiceMachine, type ServiceMachine } from '../../machines/serviceMachine.ts';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { createStreamActors, listFolds } from '../../streams/folds/streamDefinitions.ts';
import { watchChainConditions } from '../../streams/health/chainConditionWatch.ts';
import { registerDatabaseMetrics, watchDatabase } from '../../streams/health/databaseWatch.ts';
import { createReadiness, registerReadinessMetric } from '../../streams/health/readiness.ts';
import { createIngest } from '../../streams/ingest/ingest.ts';
import { createStreamGuard } from '../../streams/ingest/lostStreams.ts';
import { createStreamSettingsWatch } from '../../streams/jetstream/settings/streamSettings.ts';
import { registerAgeMetrics } from '../../streams/metrics/ageMetrics.ts';
import { registerFoldVersions, registerFollowerMetrics } from '../../streams/metrics/followerMetrics.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import { createNatsLink } from '../../streams/nats/natsLink.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import type { StreamWork } from '../../streams/work/streamWork.ts';
import type { Tracing } from '../process/openTelemetry.ts';
import { createServerActor } from './serverActor.ts';
import type { ServiceSettings } from './serviceSettings.ts';
import { createServiceViews } from './serviceViews.ts';
import { composeStreamWork } from './serviceWork.ts';

interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Null without a configured collector. */
  readonly tracing?: Tracing | null;
}

export interface Service {
  /** Null for a process that does not serve. */
  readonly publicUrl: string | null;
  readonly operatorUrl: string;
  readiness(): Readiness;
  /** Rejects if the service cannot continue: a fault of this program, or a database from a newer one. */
  readonly failed: Promise<never>;
  /**
   * Saves folded state and stops, normally at once, at the latest after about seven seconds. For `drainMs` before that it answers as before,
   * except that `/readyz` says that it is leaving.
   */
  stop(drainMs?: number): Promise<void>;
}

/**
 * Composes the running system. The ports answer at once; NATS, ClickHouse and the folded state follow as they become
 * available, and `/readyz` shows what is missing. `machines/serviceMachine.ts` decides what runs when, and what ends it.
 *
 * @throws DirectoryInUse
 * @throws PortUnavailable
 */
export async function startService({
  settings,
  clock,
  logger,
  registry,
  tracing = null,
}: ServiceOptions): Promise<Service> {
  const { roles, deployment, host } = settings;
  const actors = createStreamActors(deployment);
  const { MINER_COUNTER: counters, MINER_CHAIN: chain } = actors;
  const counts = createMessageCounts(registry);
  const opened = openDatabase(settings.database);
  const database = tracing?.traceReads(opened) ?? opened;
  const nats = createNatsLink({
    ...settings.nats,
    name: roles.ingest ? 'miner ingest' : 'miner serve',
    logger,
  });

  // The root's snapshot is the only record of what the process does.
  const child = () => root.getSnapshot().children;
  const work = () => root.getSnapshot().context.work;
  const isNatsConnected = () => child().nats?.getSnapshot().hasTag('connected') ?? false;
  const databaseReach = () => child().databaseWatch?.getSnapshot().context;
  const isDatabaseReachable = () => databaseReach()?.isReachable ?? false;
  const isLeaving = () => {
    const snapshot = root.getSnapshot();
    return snapshot.hasTag('leaving') || snapshot.status !== 'active';
  };
  let restoredAtMs: number | null = null;
  /** The chain's snapshot is some minutes old, so later messages are folded first, unless that takes long. */
  const hasViews = onceTrue(() => {
    const current = work();
    if (current === null || !current.isRestored()) return false;
    restoredAtMs ??= clock.monotonicMs();
    const isCaughtUp = current.followers.get('MINER_CHAIN')?.isCaughtUp ?? true;
    return isCaughtUp || clock.monotonicMs() - restoredAtMs > settings.readyGraceMs;
  });

  const streamGuard = createStreamGuard({
    database,
    jetStream: nats.jetStream,
    clock,
    acceptedLosses: settings.acceptedLosses,
    logger,
  });
  const streamSettings = createStreamSettingsWatch({
    jsm: () => nats.jetStream().jsm,
    retentionDays: settings.retentionDays,
    logger,
  });
  const ingest = createIngest({
    jetStream: nats.jetStream,
    database,
    identity: counters.identity,
    settlementIdentity: actors.MINER_PIPELINE.identity,
    deployment,
    clock,
    logger,
    retention: settings,
    rowsTtlDays: settings.rowsTtlDays,
    acceptsLoss: settings.acceptsLoss,
    streamGuard,
    streamSettings,
    actor: () => child().ingest,
  });
  const { views, observations } = createServiceViews({ ...settings, actors, followers: work, clock });
  /** A process without streams, such as a standby, cannot know them. */
  const readConditions = () => (work() === null ? null : views.chain.conditions());
  const readiness = createReadiness({
    clock,
    followers: work,
    graceMs: settings.readyGraceMs,
    isNatsConnected,
    isDatabaseReachable,
    isDatabaseWithinGrace: () => databaseReach()?.isWithinGrace ?? false,
    standbyFor: ingest.standbyFor,
    mayWrite: () => !roles.ingest || ingest.isHeld(),
    lostStreams: () => streamGuard.lost,
    streamRisks: () => streamSettings.risks,
    isLeaving,
    chain: () => ({
      conditions: readConditions(),
      refusedSpan: chain?.refusedSpan ?? null,
      ...describeFault(chain),
    }),
    spansRefusedSinceMs: () => chain?.refusedSpan?.storedAtMs ?? null,
  });
  registerReadinessMetric(registry, readiness);
  registerFollowerMetrics(registry, () => work()?.followers ?? [], clock);
  registerFoldVersions(registry, listFolds(actors));
  registerAgeMetrics(registry, { counters, chain, installationId: deployment.installationId, clock });
  registerDatabaseMetrics(registry, isDatabaseReachable);
  // A replica may not ask ClickHouse for its disks.
  if (roles.ingest) {
    registerStoreMetrics(registry, {
      database,
      jetStream: nats.jetStream,
      streamSettings,
      isStandby: () => ingest.standbyFor() !== null,
      clock,
    });
  }
  const conditions$ = watchChainConditions({ conditions: readConditions, logger, registry });
  const operatorServer = createOperatorServer({
    registry,
    readiness,
    diagnose: async (isQuick) => {
      const { inspectDatabase } = await import('../diagnosis/inspectDatabase.ts');
      const jetStream = isNatsConnected() ? nats.jetStream() : null;
      const drifts = work()?.drifts() ?? [];
      return {
        findings: await inspectDatabase({ ...settings, database, jetStream, isQuick, drifts }),
      };
    },
    logger,
    names: settings.opsNames,
  });
  const publicServer = roles.serve
    ? createPublicServer({
        sources: { views, observations },
        hasViews,
        readiness,
        ...(settings.accessLogOneOf > 0 && {
          onAnswered: createAccessLog(logger, settings.accessLogOneOf),
        }),
        ...(tracing && { beginTrace: tracing.beginTrace }),
        clock,
        logger,
        registry,
        settings: settings.http,
      })
    : null;

  const composition = {
    settings,
    actors,
    nats,
    ingest,
    streamGuard,
    counts,
    tracing,
    clock,
    logger,
    registry,
  };
  const root: Actor<ServiceMachine<StreamWork>> = createActor(
    createServiceMachine<StreamWork>(publicServer !== null).provide({
      actors: {
        operatorServer: createServerActor(operatorServer, settings.opsHost, settings.opsPort),
        ...(publicServer !== null && {
          publicServer: createServerActor(publicServer, host, settings.httpPort),
        }),
        nats: nats.logic,
        databaseWatch: fromObservable(() => watchDatabase(database, settings.readyGraceMs)),
        ingest: ingest.logic,
        watchConditions: fromObservable(() => conditions$),
        openJetStream: fromPromise(nats.openJetStream),
        compose: fromPromise(({ input }) => composeStreamWork(composition, input.grant)),
        upkeep: fromObservable(({ input }) => input.work.upkeep()),
        closeNats: fromPromise(nats.close),
        closeDatabase: fromPromise(database.close),
      },
      actions: {
        reportJetStreamFailure: ({ context }, { error }) => {
          if (context.failures === 1) logger.warn({ err: error }, 'JetStream: not available yet; retrying');
        },
      },
    }),
    {
      input: { writes: roles.ingest },
      inspect: createActorTransitions({ logger, registry }),
    },
  );

  const ended = () => waitFor(root, ({ status }) => status !== 'active');
  root.start();
  const { fault, ports } = (await waitFor(root, (snapshot) => !snapshot.matches({ course: 'opening' })))
    .context;
  if (fault !== null) {
    await ended();
    throw fault.error;
  }
  const urlOf = (address: string, port: number) => `http://${formatAuthority(address, port)}`;
  return {
    publicUrl: ports.public === undefined ? null : urlOf(host, ports.public),
    operatorUrl: urlOf(settings.opsHost, requireValue(ports.operator, 'the operators’ port')),
    readiness,
    failed: waitForFault(root),
    stop: async (drainMs = 0) => {
      root.send({ type: 'leave', drainMs });
      await ended();
    },
  };
}

/**
 * Rejects once the service ends for a fault. Ignores a failure during a requested stop: its caller waits for the end, and would take the failure
 * for a reason not to.
 */
function waitForFault(root: Actor<ServiceMachine<StreamWork>>): Promise<never> {
  const failed = waitFor(root, (snapshot) => snapshot.hasTag('stopping')).then(({ context: { fault } }) => {
    if (fault !== null) throw fault.error;
    return new Promise<never>(() => undefined);
  });
  failed.catch(() => undefined); // Waiting for it is optional.
  return failed;
}

/** Names the block that cannot be applied, if any; everything else is still served. */
function describeFault(chain: ChainActors | null): object {
  const fault = chain?.fault ?? null;
  if (fault === null) return {};
  const { block, detail } = fault;
  return {
    chainFault: { reason: 'projection_failed', block: block.number.toString(), hash: block.hash, detail },
  };
}

/** Remembers once a condition is true, since it is asked with each request. */
function onceTrue(isTrue: () => boolean): () => boolean {
  let wasTrue = false;
  return () => {
    wasTrue ||= isTrue();
    return wasTrue;
  };
}
