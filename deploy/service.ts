import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type Actor, createActor, fromObservable, fromPromise, waitFor } from 'xstate';
import type { ChainActors } from '../actors/chain/chainActors.ts';
import type { Clock } from '../actors/views/clock.ts';
import type { Readiness } from '../actors/views/readiness.ts';
import { createAccessLog, type OnAnswered } from '../http/server/answeredRequest.ts';
import { createOperatorServer } from '../http/server/operatorServer.ts';
import { createPublicServer, type PublicServerSettings } from '../http/server/publicServer.ts';
import type { Grant } from '../machines/ingestMachine.ts';
import { requireValue } from '../machines/requireValue.ts';
import { createServiceMachine, type ServiceMachine } from '../machines/serviceMachine.ts';
import { type DatabaseLocation, openDatabase } from '../storage/database.ts';
import { createOldestRowMs } from '../storage/rowsTtl.ts';
import { createSnapshotStore } from '../storage/snapshots.ts';
import { resolveTables } from '../storage/tables.ts';
import { createActorTransitions } from '../streams/actorTransitions.ts';
import { registerAgeMetrics } from '../streams/ageMetrics.ts';
import { createSelfAudit, registerAuditMetrics, type SelfAudit } from '../streams/audit/selfAudit.ts';
import { watchChainConditions } from '../streams/chainConditionWatch.ts';
import { createDatabaseWatch, registerDatabaseMetrics } from '../streams/databaseWatch.ts';
import { registerFoldVersions, registerFollowerMetrics } from '../streams/followerMetrics.ts';
import { createFollowers, type Followers } from '../streams/followers.ts';
import {
  createGenerationWatch,
  createUsedGeneration,
  type UsedGeneration,
} from '../streams/generationWatch.ts';
import type { ChainProofs } from '../streams/indexer/chainProofs.ts';
import { createIngest } from '../streams/ingest.ts';
import type { NatsAccess } from '../streams/jetstream/natsAccess.ts';
import { createNatsLink } from '../streams/jetstream/natsLink.ts';
import { createMessageCounts } from '../streams/messageCounts.ts';
import type { SnapshotPolicy } from '../streams/operators/snapshotMarks.ts';
import { createReadiness } from '../streams/readiness.ts';
import { createStreamWork, type StreamWork } from '../streams/streamWork.ts';
import type { Deployment } from './deploymentFile.ts';
import type { Tracing } from './openTelemetry.ts';
import { createServerActor } from './serverActor.ts';
import { createDomainActors, createServiceViews, listFolds } from './serviceViews.ts';

export interface ServiceSettings {
  /** `ingest` folds and writes; `serve` folds and answers. By default one process does both. */
  readonly roles: { readonly ingest: boolean; readonly serve: boolean };
  readonly nats: NatsAccess;
  readonly database: DatabaseLocation;
  /** Folder of the local parts. */
  readonly dataDir: string;
  readonly host: string;
  readonly httpPort: number;
  readonly opsPort: number;
  readonly opsHost: string;
  /** Host names with a dot by which the operators' port may be asked. */
  readonly opsNames: readonly string[];
  readonly http: PublicServerSettings;
  readonly retentionDays: number;
  /** Copies of each stream; null leaves existing ones alone. */
  readonly replicas: number | null;
  /** Days that rows stay in ClickHouse; 0 keeps all. */
  readonly rowsTtlDays: number;
  /** Whether rows are folded again although some of what they were made from is lost. */
  readonly acceptsLoss: boolean;
  /** A newest span older than this means that the indexer is unavailable. */
  readonly chainStaleAfterMs: number;
  /** This process is not ready if an input lags for longer than this. */
  readonly readyGraceMs: number;
  /** A node to index from; null for a process that does not. */
  readonly rpcUrl: string | null;
  readonly chainProofs: ChainProofs;
  readonly deployment: Deployment;
  /** Seconds between two samples that are compared with what they were made from; 0 for none. */
  readonly auditSeconds: number;
  readonly snapshots: SnapshotPolicy;
  /** One of so many requests is logged; 0 for none. */
  readonly accessLogOneOf: number;
}

export interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Null where no collector is configured. */
  readonly tracing?: Tracing | null;
}

export interface Service {
  /** Null for a process that does not serve. */
  readonly publicUrl: string | null;
  readonly operatorUrl: string;
  readiness(): Readiness;
  /** Rejects when the service cannot continue: a fault of this program, or a database of a newer one. */
  readonly failed: Promise<never>;
  /**
   * Stops within about seven seconds, normally at once; folded state is saved first. For `drainMs` before that everything is answered as before,
   * and `/readyz` says that this process is leaving.
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
  const actors = createDomainActors(deployment);
  const { counters, settlements, chain } = actors;
  const counts = createMessageCounts(registry, ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN']);
  const database = openDatabase(settings.database);
  const nats = createNatsLink({
    ...settings.nats,
    name: roles.ingest ? 'miner ingest' : 'miner serve',
    logger,
  });

  // The root's snapshot is the only source of what the process is doing.
  const child = () => root.getSnapshot().children;
  const work = () => root.getSnapshot().context.work;
  const isNatsConnected = () => child().nats?.getSnapshot().hasTag('connected') ?? false;
  const isDatabaseReachable = () => child().databaseWatch?.getSnapshot().hasTag('reachable') ?? false;
  const isLeaving = () => {
    const snapshot = root.getSnapshot();
    return snapshot.context.isLeaving || snapshot.hasTag('stopping') || snapshot.status !== 'active';
  };
  const hasViews = () => work()?.isRestored() ?? false;

  const ingest = createIngest({
    jetStream: nats.jetStream,
    database,
    identity: counters.identity,
    settlementIdentity: settlements.identity,
    clock,
    logger,
    retention: settings,
    rowsTtlDays: settings.rowsTtlDays,
    acceptsLoss: settings.acceptsLoss,
    actor: () => child().ingest,
  });
  const { views, observations } = createServiceViews({ ...settings, ...actors, followers: work, clock });
  const readiness = createReadiness({
    clock,
    followers: work,
    graceMs: settings.readyGraceMs,
    isNatsConnected,
    isDatabaseReachable,
    standbyFor: ingest.standbyFor,
    isLeaving,
    chain: () => ({ conditions: views.chain.conditions(), ...describeFault(chain) }),
  });
  registerFollowerMetrics(registry, () => work()?.followers ?? [], clock);
  registerFoldVersions(registry, listFolds(actors));
  registerAgeMetrics(registry, { ...actors, installationId: deployment.installationId, clock });
  registerDatabaseMetrics(registry, isDatabaseReachable);
  const conditions$ = watchChainConditions({ views: views.chain, logger, registry });
  const operatorServer = createOperatorServer({
    registry,
    readiness,
    diagnose: async (isQuick) => {
      const { inspectDatabase } = await import('./diagnosis/inspectDatabase.ts');
      const jetStream = isNatsConnected() ? nats.jetStream() : null;
      const drifts = work()?.drifts() ?? [];
      return inspectDatabase({ ...settings, database, jetStream, isQuick, drifts, logger });
    },
    logger,
    names: settings.opsNames,
  });
  const publicServer = roles.serve
    ? createPublicServer({
        sources: { views, observations },
        hasViews,
        readiness,
        ...listenToAnswers(settings.accessLogOneOf, tracing, logger),
        // Asked for each answer.
        isLeaving: () => child().publicServer?.getSnapshot().hasTag('leaving') ?? false,
        clock,
        logger,
        registry,
        settings: settings.http,
      })
    : null;

  /** Builds the followers of the streams on the tables that this process may use. */
  async function compose({ epoch, generation }: Grant): Promise<StreamWork> {
    const used = createUsedGeneration(generation, registry);
    const rebuildsFrom = () => {
      const from = ingest.rebuildsFrom();
      return from === null ? used.tables() : resolveTables(from);
    };
    const indexer = await createIndexer();
    const followers = createFollowers({
      ...nats.jetStream(),
      ...actors,
      database: ingest.databaseIn(epoch),
      tables: used.tables,
      storedTables: rebuildsFrom,
      oldestRowMs: createOldestRowMs(settings.rowsTtlDays, clock.nowMs),
      counts,
      writes: roles.ingest,
      ...(roles.ingest && { ensureStreams: ingest.ensureStreams, mayPublish: ingest.isHeld }),
      onCurrentSaved: (stream) => stream === 'MINER_COUNTER' && ingest.noteRebuilt(),
      ...(tracing && { onBatch: tracing.onBatch }),
      policy: settings.snapshots,
      clock,
      logger,
      registry,
    });
    const audit = await createAudit(followers, used);
    return createStreamWork({ followers, indexer, used, audit, auditSeconds: settings.auditSeconds });
  }

  async function createAudit({ followers, recent }: Followers, { tables }: UsedGeneration) {
    const { rpcUrl } = settings;
    const { onChain, installationId, genesisTimestamp } = deployment;
    const hasNode = rpcUrl !== null && onChain !== null && settings.auditSeconds > 0;
    const isCurrent = () => followers.get('MINER_COUNTER')?.isCurrent ?? false;
    const audit: SelfAudit = createSelfAudit(
      {
        ...nats.jetStream(),
        database,
        tables,
        oldestRowMs: createOldestRowMs(settings.rowsTtlDays, clock.nowMs),
        genesisMs: genesisTimestamp * 1000,
        memory: {
          recent,
          publicInstallationId: installationId,
          history: () => (isCurrent() ? counters.history() : null),
        },
        snapshots: createSnapshotStore({ database, tables, logger }),
        safeStates: () => chain?.state.safe ?? [],
        blockAudit: hasNode
          ? (await import('../streams/audit/auditBlock.ts')).createBlockAudit({ rpcUrl, ...onChain })
          : null,
        random: Math.random,
        logger,
      },
      registerAuditMetrics(registry, () => audit.drifts()),
    );
    return audit;
  }

  /** A node's client and proofs take long to load, and most processes need none. */
  async function createIndexer() {
    const { rpcUrl, chainProofs: proofs } = settings;
    const { onChain } = deployment;
    if (rpcUrl === null || onChain === null) return null;
    const { createDeploymentIndexer } = await import('../streams/indexer/indexing.ts');
    const { showIndexingProgress } = await import('./commands/indexingProgress.ts');
    const onProgress = showIndexingProgress(process.stderr);
    return createDeploymentIndexer({
      ...nats.jetStream(),
      onChain,
      rpcUrl,
      proofs,
      registry,
      logger,
      onProgress,
    });
  }

  const root: Actor<ServiceMachine<StreamWork>> = createActor(
    createServiceMachine<StreamWork>(publicServer !== null).provide({
      actors: {
        operatorServer: createServerActor(operatorServer, settings.opsHost, settings.opsPort),
        ...(publicServer !== null && {
          publicServer: createServerActor(publicServer, host, settings.httpPort),
        }),
        nats: nats.logic,
        databaseWatch: createDatabaseWatch(database),
        generationWatch: createGenerationWatch({
          database,
          identity: counters.identity,
          onActivated: (generation) => work()?.useGeneration(generation),
          logger,
        }),
        ingest: ingest.logic,
        watchConditions: fromObservable(() => conditions$),
        openJetStream: fromPromise(nats.openJetStream),
        compose: fromPromise(({ input }) => compose(input.grant)),
        audit: fromObservable(({ input }) => input.work.audits()),
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
      input: { writes: roles.ingest, isDatabaseShared: database.kind === 'server' },
      inspect: createActorTransitions({ logger, registry }),
    },
  );

  const ended = () => waitFor(root, ({ status }) => status !== 'active');
  root.start();
  const { fault } = (await waitFor(root, (snapshot) => !snapshot.matches('opening'))).context;
  if (fault !== null) {
    await ended();
    throw fault.error;
  }
  const urlOf = (server: 'publicServer' | 'operatorServer', address: string) => {
    const port = child()[server]?.getSnapshot().context.port ?? null;
    return port === null ? null : `http://${address}:${port}`;
  };
  return {
    publicUrl: urlOf('publicServer', host),
    operatorUrl: requireValue(urlOf('operatorServer', settings.opsHost), 'the operators’ port'),
    readiness,
    failed: waitForFault(root),
    stop: async (drainMs = 0) => {
      root.send({ type: 'leave', drainMs });
      await ended();
    },
  };
}

/**
 * Rejects once the service ends for a fault. A failure during a requested stop is ignored: whoever requested the stop waits for its end, and
 * would take the failure for a reason not to.
 */
function waitForFault(root: Actor<ServiceMachine<StreamWork>>): Promise<never> {
  const failed = waitFor(root, (snapshot) => snapshot.hasTag('stopping')).then(({ context: { fault } }) => {
    if (fault !== null) throw fault.error;
    return new Promise<never>(() => undefined);
  });
  failed.catch(() => undefined); // Waiting for it is optional.
  return failed;
}

/** What receives each answered request, if anything does. */
function listenToAnswers(
  oneOf: number,
  tracing: Tracing | null,
  logger: Logger,
): { readonly onAnswered?: OnAnswered } {
  const listeners = [
    ...(oneOf === 0 ? [] : [createAccessLog(logger, oneOf)]),
    ...(tracing === null ? [] : [tracing.onAnswered]),
  ];
  const [only] = listeners;
  if (only === undefined) return {};
  if (listeners.length === 1) return { onAnswered: only };
  return {
    onAnswered: (request) => {
      for (const listener of listeners) listener(request);
    },
  };
}

/** Names the block that cannot be applied, if there is one; everything else is served nevertheless. */
function describeFault(chain: ChainActors | null): object {
  const fault = chain?.fault ?? null;
  if (fault === null) return {};
  const { block, detail } = fault;
  return {
    chainFault: { reason: 'projection_failed', block: block.number.toString(), hash: block.hash, detail },
  };
}
