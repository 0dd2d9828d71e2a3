import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type ActorRefFrom, fromPromise } from 'xstate';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import { ingestMachine } from '../../machines/ingestMachine.ts';
import type { LeaseHolder } from '../../machines/leaseSetup.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { findDamagedParts } from '../../storage/damagedParts.ts';
import type { Database } from '../../storage/database.ts';
import { activate, findActiveTables } from '../../storage/generations.ts';
import {
  beginEpoch,
  type EpochSuperseded,
  fenceDatabase,
  isNewestEpoch,
  readDatabaseIdentity,
  readNewestEpoch,
} from '../../storage/ingestEpochs.ts';
import {
  canReadStored,
  DatabaseIncompatible,
  DatabaseTooNew,
  migrate,
  requireMigrated,
  requireUsable,
} from '../../storage/migrations.ts';
import type { MigratedDeployment } from '../../storage/releasedSnapshots.ts';
import { applyRowsTtl } from '../../storage/rowsTtl.ts';
import { requireSupportedServer, ServerTooOld } from '../../storage/serverVersion.ts';
import { resolveTables } from '../../storage/tables.ts';
import {
  ensureExists,
  ensureStreams,
  type StreamSettings,
  warnOfSingleReplicas,
} from '../jetstream/ensureStreams.ts';
import type { JetStream } from '../jetstream/natsLink.ts';
import { replaySubject } from '../jetstream/replaySubject.ts';
import type { StreamSettingsWatch } from '../jetstream/streamSettings.ts';
import { createLease, findStandbyHolder, isLeaseHeld } from './ingestLease.ts';
import type { StreamGuard } from './lostStreams.ts';
import { acquireLock, LockHeldError } from './processLock.ts';
import {
  chooseGeneration,
  type GenerationChoiceOptions,
  RebuildIncomplete,
  requireRebuildable,
} from './rebuildGeneration.ts';

type IngestActor = ActorRefFrom<typeof ingestMachine>;

interface IngestOptions {
  readonly jetStream: () => JetStream;
  readonly database: Database;
  /** Identity of the counter stream's fold. */
  readonly identity: FoldIdentity;
  readonly settlementIdentity: FoldIdentity;
  readonly deployment: MigratedDeployment;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retention: StreamSettings;
  /** Days that rows stay in ClickHouse; 0 keeps all. */
  readonly rowsTtlDays: number;
  readonly acceptsLoss: boolean;
  readonly streamGuard: StreamGuard;
  readonly streamSettings: Pick<StreamSettingsWatch, 'check'>;
  /** The running actor; undefined while none runs. */
  readonly actor: () => IngestActor | undefined;
}

/** Obtains the tables that this process works on, and controls what it may do with them. */
export interface Ingest {
  readonly logic: typeof ingestMachine;
  /** Name of this process, unlike any other one's. */
  readonly holder: string;
  /** Whether this process holds the lease now, according to its own clock. */
  isHeld(): boolean;
  /** The process that ingests while this one waits as a standby. */
  standbyFor(): LeaseHolder | null;
  /** The database with this process's rights: an ingesting process writes only while it holds the lease, in its epoch. */
  databaseIn(epoch: number | null): Database;
  /** Generation that is active while another one is being filled; null otherwise. */
  rebuildsFrom(): number | null;
  /** Called when the counter stream's state is saved and caught up: tables that are being rebuilt can be activated. */
  noteRebuilt(): void;
  /**
   * Creates the streams, or updates their settings.
   *
   * @throws StreamsLost
   */
  ensureStreams(): Promise<void>;
}

const faults = {
  unusableDatabase: [DatabaseTooNew, DatabaseIncompatible, ServerTooOld, RebuildIncomplete],
  replayRunning: [LockHeldError],
} as const;

export function createIngest(options: IngestOptions): Ingest {
  const { jetStream, database, identity, settlementIdentity, clock, logger, retention } = options;
  const { rowsTtlDays, acceptsLoss, streamGuard, streamSettings, actor } = options;
  // A standby must not change the holder's settings.
  const ensureLease = async () => {
    await streamGuard.check();
    await ensureExists(jetStream().jsm, { ...retention, stream: 'MINER_LEASE', logger });
  };
  /** Returns the streams whose loss is accepted. */
  const ensureAll = async () => {
    const lost = await streamGuard.check();
    await ensureStreams(jetStream().jsm, { ...retention, streams: streamNames, logger });
    return lost;
  };
  const lease = () => actor()?.getSnapshot().children.lease?.getSnapshot();
  const isHeld = () => isLeaseHeld(lease(), clock);
  const onSuperseded = (error: EpochSuperseded) => actor()?.send({ type: 'superseded', error });
  /** Releases the lock on filling tables, if this process has it. */
  let releaseTables: () => void = () => undefined;
  const holder = `${hostname()} ${randomUUID()}`;
  const fence = (epoch: number) =>
    fenceDatabase({ database, lease: { isHeld }, epoch, holder, onSuperseded });
  const generationOptions = (ofEpoch: Database, epoch = 0): GenerationChoiceOptions => ({
    database: ofEpoch,
    writer: { epoch, holder },
    jsm: jetStream().jsm,
    identity,
    settlementIdentity,
    streamGuard,
    claim: async () => {
      releaseTables = await acquireLock(jetStream().connection, replaySubject, 'a replay');
      return releaseTables;
    },
    nowMs: clock.nowMs,
    acceptsLoss,
    logger,
  });

  const logic = ingestMachine.provide({
    actors: {
      lease: createLease({ jetStream, clock, logger, onMissing: ensureLease }),
      readActive: fromPromise(async () => {
        await requireSupportedServer(database);
        await requireMigrated(database);
        await streamGuard.check();
        return (await findActiveTables(database)).generation;
      }),
      identify: fromPromise(async () => {
        await requireSupportedServer(database);
        await ensureLease();
        const name = await readDatabaseIdentity(database);
        return { name, isUnused: (await readNewestEpoch(database)).epoch === 0 };
      }),
      ensureStreams: fromPromise(async () => {
        await requireUsable(database);
        const lost = await ensureAll();
        // Before the migration, so that the version that wrote the database can still run.
        if (lost.length === 0 && (await canReadStored(database)))
          await requireRebuildable(generationOptions(database));
        await warnOfSingleReplicas(jetStream().jsm, streamNames, logger);
        await streamSettings.check();
      }),
      migrate: fromPromise(async () => {
        await migrate(database, logger, options.deployment);
        await reportDamagedParts(database, logger);
      }),
      beginEpoch: fromPromise(() =>
        beginEpoch(database, {
          lease: { isHeld },
          leaseSequence: lease()?.context.stored.sequence ?? 0,
          holder,
          nowMs: clock.nowMs(),
        }),
      ),
      chooseGeneration: fromPromise(async ({ input: { epoch }, signal }) => {
        const fenced = fence(epoch);
        try {
          const { tables, rebuildsFrom } = await chooseGeneration(generationOptions(fenced, epoch));
          // Only now: until here the tables show whether rows may have expired.
          const active = rebuildsFrom === null ? tables : resolveTables(rebuildsFrom);
          for (const one of new Set([active, tables]))
            await applyRowsTtl(fenced, one, { days: rowsTtlDays, nowMs: clock.nowMs() });
          signal.throwIfAborted();
          return { generation: tables.generation, rebuildsFrom };
        } catch (error) {
          // The next holder of the lease would wait for the lock for ever.
          releaseTables();
          throw error;
        }
      }),
      activate: fromPromise(async ({ input: { grant } }) => {
        const { epoch, generation } = grant;
        await activate(fence(requireValue(epoch, 'the epoch of the rebuild')), resolveTables(generation));
        logger.info({ generation }, 'the rebuilt generation is the active one');
      }),
      checkEpoch: fromPromise(async ({ input: { epoch } }) => {
        await isNewestEpoch({ database, epoch, holder, onSuperseded });
      }),
    },
    guards: {
      isFault: (_, { error, fault }) => faults[fault].some((kind) => error instanceof kind),
    },
    actions: {
      reportFailure: ({ context: { writes, failures } }, { error }) => {
        const what = writes ? 'ingest' : 'tables';
        if (failures === 1) logger.warn({ err: error }, `${what}: not available yet; retrying`);
      },
      reportReplay: ({ context: { hasReportedReplay } }, { error }) => {
        if (!hasReportedReplay)
          logger.warn({ err: error }, 'the tables are rebuilt once the replay has ended');
      },
      reportGrant: ({ context: { grant } }) =>
        logger.info({ epoch: grant?.epoch, generation: grant?.generation }, 'this process ingests'),
      releaseRebuild: () => releaseTables(),
      reportActivationFailure: (_, { error }) =>
        logger.warn({ err: error }, 'the rebuilt tables cannot be activated yet; retrying'),
    },
  });

  return {
    logic,
    holder,
    isHeld,
    standbyFor: () => findStandbyHolder(lease()),
    databaseIn: (epoch) => (epoch === null ? database : fence(epoch)),
    rebuildsFrom: () => {
      const ingest = actor()?.getSnapshot();
      return ingest?.hasTag('rebuilding') ? (ingest.context.grant?.rebuildsFrom ?? null) : null;
    },
    noteRebuilt: () => actor()?.send({ type: 'rebuilt' }),
    ensureStreams: async () => {
      await ensureAll();
    },
  };
}

/** Reports damaged parts, since nothing else shows the missing rows. A user without the right to ask, granted by an earlier version, still ingests. */
async function reportDamagedParts(database: Database, logger: Logger): Promise<void> {
  try {
    for (const { table, count } of await findDamagedParts(database))
      logger.error({ table, count }, 'ClickHouse has set damaged parts aside; `miner doctor` says more');
  } catch (error) {
    logger.warn({ err: error }, 'cannot ask ClickHouse for damaged parts (SELECT on system.detached_parts)');
  }
}
