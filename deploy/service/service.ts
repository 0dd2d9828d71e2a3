import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import {
  type Actor,
  createActor,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  waitFor,
} from 'xstate';
import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import type { Readiness } from '../../actors/views/views.ts';
import { formatAuthority, type Listener } from '../../http/server/engine/listener.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { createPublicServer } from '../../http/server/publicServer.ts';
import type { Grant } from '../../machines/ingestMachine.ts';
import { requireValue } from '../../machines/requireValue.ts';
import {
  createServiceMachine,
  type ServerEvent,
  type ServerName,
  type ServiceMachine,
} from '../../machines/serviceMachine.ts';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { createOldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import { createSelfAudit } from '../../streams/audit/selfAudit.ts';
import { createStreamActors, type StreamActors } from '../../streams/definitions/streamDefinitions.ts';
import { watchChainConditions } from '../../streams/health/chainConditionWatch.ts';
import { watchDatabase } from '../../streams/health/databaseWatch.ts';
import { createReadiness, createViewsCheck } from '../../streams/health/readiness.ts';
import { createIngest } from '../../streams/ingest/ingest.ts';
import { createStreamGuard } from '../../streams/ingest/lostStreams.ts';
import { createStreamSettingsWatch } from '../../streams/jetstream/settings/streamSettings.ts';
import { registerAgeMetrics } from '../../streams/metrics/ageMetrics.ts';
import { registerIndexerMetrics } from '../../streams/metrics/chainMetrics.ts';
import { registerFollowerMetrics } from '../../streams/metrics/followerMetrics.ts';
import { registerPlaceMetrics } from '../../streams/metrics/placeMetrics.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import { createNatsLink } from '../../streams/nats/natsLink.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { runMembers } from '../../streams/operators/runMember.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { createStreamWork, type StreamWork } from '../../streams/work/streamWork.ts';
import type { Finding } from '../diagnosis/finding.ts';
import type { ServiceSettings } from './serviceSettings.ts';
import { createServiceViews } from './serviceViews.ts';

interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Called if the started service cannot continue: a fault of this program, or a database from a newer one. Not called for a failure during a stop. */
  readonly onFault: (error: unknown) => void;
}

export interface Service {
  /** Null for a process that does not serve. */
  readonly publicUrl: string | null;
  readonly operatorUrl: string;
  readiness(): Readiness;
  /** The folded state. */
  readonly actors: StreamActors;
  /** Sequence of the last folded message of a stream; 0 before the first. */
  foldedThrough(stream: InputStreamName): number;
  /** @throws before NATS is connected. */
  jetStream(): StreamPort;
  /**
   * Saves folded state and stops, normally at once, at the latest after about seven seconds. For `drainMs` before that it answers as before,
   * except that `/readyz` says that it is leaving.
   */
  stop(drainMs?: number): Promise<void>;
}

type ServiceRoot = Actor<ServiceMachine<StreamWork>>;
type ServiceParts = ReturnType<typeof createParts>;

/**
 * Composes the running system. The ports answer at once; NATS, ClickHouse and the folded state follow as they become
 * available, and `/readyz` shows what is missing. `machines/serviceMachine.ts` decides what runs when, and what ends it.
 *
 * @throws DirectoryInUse
 * @throws PortUnavailable
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const parts = createParts(options, () => root);
  const { settings, actors, database, nats, ingest, work, logger, registry } = parts;
  const { roles, readyGraceMs: graceMs } = settings;
  const sources = createServiceViews(settings, parts);
  /** A process without streams, such as a standby, cannot know them. */
  const conditions = () => (work() === null ? null : sources.views.chain.conditions());
  const readiness = createReadiness({
    ...parts,
    graceMs,
    chain: actors.MINER_CHAIN,
    conditions,
    mayWrite: () => !roles.ingest || ingest.isHeld(),
  });
  registerServiceMetrics(parts, readiness);
  const conditions$ = watchChainConditions({ conditions, logger, registry });
  const operatorServer = createOperatorServer({
    readiness,
    names: settings.opsNames,
    logger,
    registry,
    diagnose: () => diagnose(parts),
  });
  const hasViews = createViewsCheck({ ...parts, graceMs });
  const publicServer = roles.serve
    ? createPublicServer({ ...parts, sources, hasViews, readiness, settings: settings.http })
    : null;
  const root: ServiceRoot = createActor(
    createServiceMachine<StreamWork>(publicServer !== null).provide({
      actors: {
        operatorServer: listenAsActor(operatorServer, settings.opsHost, settings.opsPort),
        ...(publicServer !== null && {
          publicServer: listenAsActor(publicServer, settings.host, settings.httpPort),
        }),
        nats: fromEventObservable(() => nats.changes$),
        group: runMembers,
        databaseWatch: fromObservable(() => watchDatabase(database, graceMs)),
        ingest: ingest.logic,
        watchConditions: fromObservable(() => conditions$),
        compose: fromPromise(({ input }) => composeWork(parts, input.grant)),
        upkeep: fromObservable(({ input }) => input.work.upkeep()),
        closeNats: fromPromise(nats.close),
        closeDatabase: fromPromise(database.close),
      },
    }),
    { input: { writes: roles.ingest }, inspect: createActorTransitions({ logger, registry }) },
  );
  root.start();
  const { fault, ports } = (await waitFor(root, (snapshot) => !snapshot.matches({ course: 'opening' })))
    .context;
  const ended = () => waitFor(root, ({ status }) => status !== 'active');
  if (fault !== null) {
    await ended();
    throw fault.error;
  }
  void waitFor(root, (snapshot) => snapshot.hasTag('stopping')).then(({ context }) => {
    if (context.fault !== null) options.onFault(context.fault.error);
  });
  const buildUrl = (address: string, port: number) => `http://${formatAuthority(address, port)}`;
  return {
    publicUrl: ports.public === undefined ? null : buildUrl(settings.host, ports.public),
    operatorUrl: buildUrl(settings.opsHost, requireValue(ports.operator, 'the operators’ port')),
    readiness,
    actors,
    foldedThrough: (stream) => work()?.followers.get(stream)?.status().position ?? 0,
    jetStream: nats.jetStream,
    stop: async (drainMs = 0) => {
      root.send({ type: 'leave', drainMs });
      await ended();
    },
  };
}

/**
 * Creates everything that a process has from its start to its end.
 *
 * @param root the only record of what the process does at the moment.
 * @throws DirectoryInUse
 */
function createParts(options: ServiceOptions, root: () => ServiceRoot) {
  const { settings, clock, logger, registry } = options;
  const { roles, deployment, retentionDays, acceptedLosses } = settings;
  const actors = createStreamActors(deployment);
  const database = openDatabase(settings.database);
  const nats = createNatsLink({
    ...settings.nats,
    name: roles.ingest ? 'miner ingest' : 'miner serve',
    logger,
  });
  const { jetStream } = nats;
  const streamGuard = createStreamGuard({ database, jetStream, clock, acceptedLosses, logger });
  const streamSettings = createStreamSettingsWatch({ jetStream, retentionDays, logger });
  const ingest = createIngest({
    ...settings,
    jetStream,
    database,
    identity: actors.MINER_COUNTER.identity,
    settlementIdentity: actors.MINER_PIPELINE.identity,
    streamGuard,
    streamSettings,
    actor: () => root().getSnapshot().children.ingest,
    clock,
    logger,
  });
  return {
    ...{ ...options, actors, database, nats, streamGuard, streamSettings, ingest },
    counts: createMessageCounts(registry),
    /** Null until the tables are known. */
    work: () => root().getSnapshot().context.work,
    isNatsConnected: () => root().getSnapshot().context.isNatsConnected,
    /** Undefined before ClickHouse is asked. */
    databaseReach: () => root().getSnapshot().children.databaseWatch?.getSnapshot().context,
    isLeaving: () => root().getSnapshot().hasTag('leaving') || root().getSnapshot().status !== 'active',
  };
}

/** Builds the work on the granted streams and tables. */
async function composeWork(parts: ServiceParts, { epoch }: Grant): Promise<StreamWork> {
  const { settings, actors, nats, ingest, streamGuard, clock, registry } = parts;
  registerPlaceMetrics(registry, actors);
  return createStreamWork({
    ...parts,
    jetStream: nats.jetStream(),
    database: ingest.databaseIn(epoch),
    oldestReadingMs: createOldestReadingMs(settings.readingsTtlDays, clock.nowMs),
    writer: epoch === null ? null : { epoch, holder: ingest.holder },
    checkStreams: streamGuard.check,
    ...(settings.roles.ingest && { ensureStreams: ingest.ensureStreams, mayPublish: ingest.isHeld }),
    policy: settings.snapshots,
    ...(await createNodeWork(parts)),
  });
}

/** Creates the parts that ask a node. Its client and proofs are loaded only here: that takes long, and most processes have no node. */
async function createNodeWork({ settings, actors, nats, registry, logger }: ServiceParts) {
  const { rpcUrl, deployment } = settings;
  const { onChain } = deployment;
  if (rpcUrl === null || onChain === null) return { indexer: null, audit: null };
  const { createDeploymentIndexer } = await import('../../streams/indexer/deploymentIndexer.ts');
  const { createBlockAudit } = await import('../../streams/audit/auditBlock.ts');
  const { showIndexingProgress } = await import('../process/indexingProgress.ts');
  const onProgress = showIndexingProgress();
  const indexer = createDeploymentIndexer({
    jetStream: nats.jetStream(),
    ...{ onChain, rpcUrl, logger, onProgress },
  });
  registerIndexerMetrics(registry, indexer);
  const audit = createSelfAudit({
    safeStates: () => actors.MINER_CHAIN?.state.safe ?? [],
    auditBlock: createBlockAudit({ rpcUrl, ...onChain }),
    everyMs: settings.auditMs,
    random: Math.random,
    registry,
    logger,
  });
  return { indexer, audit };
}

/** Registers what every process measures, whether or not it has streams to follow. */
function registerServiceMetrics(parts: ServiceParts, readiness: () => Readiness): void {
  const { settings, actors, ingest, nats, database, streamSettings, work, clock, registry } = parts;
  const { MINER_COUNTER: counters, MINER_CHAIN: chain } = actors;
  const { installationId } = settings.deployment;
  registerFollowerMetrics(registry, () => work()?.followers ?? [], clock);
  registerAgeMetrics(registry, { counters, chain, installationId, clock });
  registerMetrics(registry, {
    miner_database_reachable: [
      '1 while ClickHouse answers.',
      () => parts.databaseReach()?.isReachable ?? false,
    ],
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

/** Examines what is stored, for the doctor. */
async function diagnose(parts: ServiceParts): Promise<{ readonly findings: readonly Finding[] }> {
  const { settings, database, nats, work } = parts;
  const { inspectDatabase } = await import('../diagnosis/inspectDatabase.ts');
  const jetStream = parts.isNatsConnected() ? nats.jetStream() : null;
  const drifts = work()?.drifts() ?? [];
  const findings: Finding[] = [];
  for await (const finding of inspectDatabase({ ...settings, database, jetStream, drifts }))
    findings.push(finding);
  return { findings };
}

/** Creates the actor of an HTTP server on a port; 0 is any free one. */
function listenAsActor(server: Listener, host: string, port: number) {
  return fromCallback<{ type: 'leave' }, ServerName>(({ sendBack, receive, input }) => {
    const report = (event: ServerEvent) => sendBack(event);
    let isCancelled = false;
    receive(() => server.leave());
    server.listen(host, port).then(
      (bound) => {
        if (isCancelled) server.close();
        else report({ type: 'bound', server: input, port: bound });
      },
      (error: unknown) => {
        if (!isCancelled) report({ type: 'faulted', error });
      },
    );
    return () => {
      isCancelled = true;
      server.close();
    };
  });
}
