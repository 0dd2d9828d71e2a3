import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { type ChainActors, createChainActors } from '../actors/chain/chainActors.ts';
import { type InputStreamName, streamNames } from '../actors/messages/subjects.ts';
import { createPipelineActors } from '../actors/settlement/pipelineActors.ts';
import { createActivityViews } from '../actors/views/activityViews.ts';
import { createChainViews } from '../actors/views/chainViews.ts';
import type { Clock } from '../actors/views/clock.ts';
import type { Readiness } from '../actors/views/readiness.ts';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { createOperatorServer } from '../http/server/operatorServer.ts';
import { createPublicServer, type PublicServerSettings } from '../http/server/publicServer.ts';
import { type Database, type DatabaseLocation, openDatabase } from '../storage/database.ts';
import { activeTables } from '../storage/generations.ts';
import type { ObservationReader } from '../storage/observationReader.ts';
import { StorageUnavailable } from '../storage/storageUnavailable.ts';
import { watchChainConditions } from '../streams/chainConditionWatch.ts';
import { createDatabaseWatch } from '../streams/databaseWatch.ts';
import { registerFollowerMetrics } from '../streams/followerMetrics.ts';
import { createFollowers, type Followers } from '../streams/followers.ts';
import { type GenerationWatch, watchGeneration } from '../streams/generationWatch.ts';
import type { ChainProofs } from '../streams/indexer/chainProofs.ts';
import { acquireIngest, type Ingest } from '../streams/ingest.ts';
import { closeNats, connectNats, sleep } from '../streams/jetstream/connection.ts';
import { ensureStreams } from '../streams/jetstream/ensureStreams.ts';
import type { LeaseHolder } from '../streams/jetstream/ingestLease.ts';
import { createMessageCounts } from '../streams/messageCounts.ts';
import type { SnapshotPolicy } from '../streams/operators/snapshotMarks.ts';
import { createReadiness } from '../streams/readiness.ts';
import type { StreamFollower } from '../streams/streamFollower.ts';
import type { Deployment } from './deploymentFile.ts';
import { within } from './within.ts';

export interface ServiceSettings {
  /** `ingest` folds and writes; `serve` folds and answers. By default one process does both. */
  readonly roles: { readonly ingest: boolean; readonly serve: boolean };
  readonly natsUrl: string;
  readonly database: DatabaseLocation;
  readonly host: string;
  readonly httpPort: number;
  readonly opsPort: number;
  readonly http: PublicServerSettings;
  readonly retentionDays: number;
  /** A newest span older than this means that the indexer is away. */
  readonly chainStaleAfterMs: number;
  /** An input that is not kept up with for longer makes this process not ready. */
  readonly readyGraceMs: number;
  /** A node to index from; null for a process that does not. */
  readonly rpcUrl: string | null;
  readonly chainProofs: ChainProofs;
  readonly deployment: Deployment;
  readonly snapshots: SnapshotPolicy;
}

export interface ServiceOptions {
  readonly settings: ServiceSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

export interface Service {
  /** Null for a process that does not serve. */
  readonly publicUrl: string | null;
  readonly operatorUrl: string;
  readiness(): Readiness;
  /** Rejects when the service cannot continue: a fault of this program, or a database of a newer one. */
  readonly failed: Promise<never>;
  /** Stops within about seven seconds, and at once where nothing is in the way; what is folded is saved first. */
  stop(): Promise<void>;
}

/** How long a stop waits for the state to be saved. */
export const saveGraceMs = 5_000;
/** How long it waits for each connection to close: a server that hangs does not delay it further. */
export const closeGraceMs = 400;
/** How long it waits for a statement that ClickHouse executes. */
export const databaseCloseGraceMs = 1_000;
const startRetryMs = 1_000;

/**
 * Composes the running system. The ports answer at once; NATS, ClickHouse and the folded state follow as they become
 * available, and `/readyz` tells what is missing.
 *
 * @throws PortUnavailable
 */
export async function startService({ settings, clock, logger, registry }: ServiceOptions): Promise<Service> {
  const { roles, deployment } = settings;
  const stopping = new AbortController();
  const counters = createCounterActors({
    genesisMs: deployment.genesisTimestamp * 1000,
    publicInstallationId: deployment.installationId,
  });
  const pipeline = createPipelineActors();
  const chain =
    deployment.onChain === null
      ? null
      : createChainActors({
          chainId: deployment.onChain.chain.chainId,
          contracts: deployment.onChain.contracts,
          deploymentBlock: deployment.onChain.chain.deploymentBlock,
        });
  const counts = createMessageCounts(registry, ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN']);
  const followers = new Map<InputStreamName, StreamFollower>();
  registerFollowerMetrics(registry, followers);
  const databaseWatch = createDatabaseWatch({ registry });
  let connection: NatsConnection | null = null;
  let isNatsConnected = false;
  let database: Database | null = null;
  let generations: GenerationWatch | null = null;
  let running: Followers | null = null;
  let indexing: Promise<void> | null = null;
  let ingest: Ingest | null = null;
  /** The process that ingests while this one waits to. */
  let standbyFor: LeaseHolder | null = null;

  /** What is read from ClickHouse is there once the followers are. */
  function opened(): Followers {
    if (running === null) throw new StorageUnavailable('ClickHouse is not open yet');
    return running;
  }
  const views = createActivityViews({
    publicInstallationId: deployment.installationId,
    counters,
    pipeline,
    chainState: () => chain?.newest() ?? null,
    genesisMs: deployment.genesisTimestamp * 1000,
    isCounterCaughtUp: () => followers.get('MINER_COUNTER')?.isCurrent ?? false,
    olderEvents: {
      before: async (...query) => opened().olderEvents.before(...query),
      after: async (...query) => opened().olderEvents.after(...query),
      find: async (...query) => opened().olderEvents.find(...query),
      lastBefore: async (...query) => opened().olderEvents.lastBefore(...query),
    },
    chain: createChainViews({
      installationId: deployment.installationId,
      onChain:
        chain === null || deployment.onChain === null
          ? null
          : { deployment: deployment.onChain, actors: chain },
      isCaughtUp: () => followers.get('MINER_CHAIN')?.isCaughtUp ?? false,
      staleAfterMs: settings.chainStaleAfterMs,
      clock,
    }),
    clock,
  });
  const observations: ObservationReader = { page: (...asked) => opened().observations.page(...asked) };

  const readiness = createReadiness({
    clock,
    followers,
    writers: () => running?.writers ?? null,
    graceMs: settings.readyGraceMs,
    isNatsConnected: () => isNatsConnected,
    isDatabaseReachable: () => databaseWatch.isReachable(),
    standbyFor: () => standbyFor,
    chain: () => ({ conditions: views.chain.conditions(), ...faultOf(chain) }),
  });

  // Asked with every request; what was restored once stays so.
  let isRestored = false;
  const hasViews = () => {
    isRestored ||= running !== null && [...followers.values()].every((one) => one.isRestored);
    return isRestored;
  };

  const operatorServer = createOperatorServer({ registry, readiness, logger });
  const opsPort = await operatorServer.listen(settings.host, settings.opsPort);
  const publicServer = roles.serve
    ? createPublicServer({
        sources: { views, observations },
        hasViews,
        readiness,
        clock,
        logger,
        registry,
        settings: settings.http,
      })
    : null;
  const httpPort = (await publicServer?.listen(settings.host, settings.httpPort)) ?? null;

  const stopConditionWatch = watchChainConditions({ views: views.chain, logger, registry });

  async function bringUp(): Promise<void> {
    database = openDatabase(settings.database);
    databaseWatch.start(database);
    connection = await connectNats({
      url: settings.natsUrl,
      name: roles.ingest ? 'miner ingest' : 'miner serve',
      logger,
      signal: stopping.signal,
      onConnected: (isConnected) => {
        isNatsConnected = isConnected;
      },
    });
    const js = jetstream(connection);
    const jsm = await persist('JetStream', () => jetstreamManager(connection as NatsConnection));
    const ensure = () => ensureStreams(jsm, streamNames, settings, logger);
    if (roles.ingest) {
      ingest = await persist('ingest', () =>
        acquireIngest({
          connection: connection as NatsConnection,
          js,
          jsm,
          database: database as Database,
          identity: counters.identity,
          clock,
          logger,
          signal: stopping.signal,
          retention: settings,
          onStandby: (holder) => {
            standbyFor = holder;
          },
        }),
      );
      database = ingest.database;
    }
    const tables = ingest?.tables ?? (await persist('tables', () => activeTables(database as Database)));
    const watch = watchGeneration({
      database,
      tables,
      identity: counters.identity,
      onActivated: (active) => followers.get('MINER_COUNTER')?.restoreAnew(() => watch.use(active)),
      logger,
      registry,
    });
    generations = watch;
    const parts = {
      connection,
      js,
      jsm,
      database,
      tables: watch.tables,
      storedTables: () => ingest?.rebuildsFrom() ?? watch.tables(),
      counters,
      pipeline,
      chain,
      counts,
      clock,
      logger,
      registry,
    };
    const { onChain } = deployment;
    if (settings.rpcUrl !== null && onChain !== null) {
      const { rpcUrl } = settings;
      // A node's client and proofs take long to load, and most processes need none.
      const { createDeploymentIndexer } = await import('../streams/indexer/indexing.ts');
      const { showIndexingProgress } = await import('./commands/indexingProgress.ts');
      const indexer = createDeploymentIndexer({
        js,
        jsm,
        onChain,
        rpcUrl,
        proofs: settings.chainProofs,
        registry,
        logger,
        onProgress: showIndexingProgress(process.stderr),
      });
      indexing = indexer.run(stopping.signal);
    }
    running = createFollowers({
      ...parts,
      writes: roles.ingest,
      policy: settings.snapshots,
      ...(roles.ingest && { ensureStreams: ensure, mayPublish: () => ingest?.isHeld() ?? false }),
      onCurrentSaved: (stream) => {
        if (stream === 'MINER_COUNTER') ingest?.rebuilt();
      },
    });
    for (const [stream, follower] of running.followers) followers.set(stream, follower);
    await Promise.race([
      Promise.all([...[...followers.values()].map((follower) => follower.run()), indexing]),
      ...(ingest === null ? [] : [ingest.lost]),
    ]);
  }

  /** Tries again while a part is away; a fault that waiting does not mend is thrown. */
  async function persist<Result>(what: string, attempt: () => Promise<Result>): Promise<Result> {
    for (let failures = 0; ; failures++) {
      try {
        return await attempt();
      } catch (error) {
        stopping.signal.throwIfAborted();
        if (error instanceof Error && error.name === 'DatabaseTooNew') throw error;
        if (failures === 0) logger.warn({ err: error }, `${what}: not available yet; retrying`);
        await sleep(startRetryMs, stopping.signal);
      }
    }
  }

  const failed = new Promise<never>((_, reject) => {
    bringUp().catch((error: unknown) => {
      if (!stopping.signal.aborted) reject(error);
    });
  });
  failed.catch(() => undefined); // Whoever waits for it handles it; nobody has to.

  return {
    publicUrl: httpPort === null ? null : `http://${settings.host}:${httpPort}`,
    operatorUrl: `http://${settings.host}:${opsPort}`,
    readiness,
    failed,
    stop: async () => {
      stopping.abort(new Error('the service is being stopped'));
      publicServer?.close();
      await Promise.all([...followers.values()].map((one) => one.stop({ graceMs: saveGraceMs })));
      databaseWatch.stop();
      stopConditionWatch();
      generations?.stop();
      await within(closeGraceMs, indexing ?? undefined);
      await within(closeGraceMs, ingest?.release());
      await within(closeGraceMs, connection === null ? undefined : closeNats(connection));
      await within(databaseCloseGraceMs, database?.close());
      operatorServer.close();
    },
  };
}

/** Names the block that stops the chain, where one does; the rest serves nevertheless. */
function faultOf(chain: ChainActors | null): object {
  const fault = chain?.fault ?? null;
  if (fault === null) return {};
  const { block, detail } = fault;
  return {
    chainFault: { reason: 'projection_failed', block: block.number.toString(), hash: block.hash, detail },
  };
}
