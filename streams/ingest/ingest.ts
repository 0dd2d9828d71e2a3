import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { type ActorRefFrom, fromPromise } from 'xstate';
import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { streamNames } from '../../actors/messages/subjects.ts';
import { ingestMachine } from '../../machines/ingestMachine.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { requireSupportedServer } from '../../storage/clickhouse/serverVersion.ts';
import { findDamagedParts } from '../../storage/clickhouse/systemTables.ts';
import { migrate, requireMigrated, requireUsable } from '../../storage/migration/migrate.ts';
import { applyReadingsTtl } from '../../storage/rows/readingsTtl.ts';
import {
  beginEpoch,
  type EpochSuperseded,
  fenceDatabase,
  isNewestEpoch,
  readDatabaseIdentity,
  readNewestEpoch,
} from '../../storage/runs/epochFence.ts';
import {
  ensureExists,
  ensureStreams,
  type StreamSettings,
  warnOfSingleReplicas,
} from '../jetstream/settings/ensureStreams.ts';
import type { StreamSettingsWatch } from '../jetstream/settings/streamSettings.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { type AcceptedLossOptions, leaveLostStreams, requireComplete } from './acceptLosses.ts';
import { createLease, findStandbyHolder, isLeaseHeld } from './ingestLease.ts';
import type { StreamGuard } from './lostStreams.ts';

type IngestActor = ActorRefFrom<typeof ingestMachine>;

export interface IngestOptions extends StreamSettings {
  readonly jetStream: () => StreamPort;
  readonly database: Database;
  /** Identity of the counter stream's fold. */
  readonly identity: FoldIdentity;
  readonly settlementIdentity: FoldIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Days that rows stay in ClickHouse; 0 keeps all. */
  readonly readingsTtlDays: number;
  readonly acceptsLoss: boolean;
  readonly streamGuard: StreamGuard;
  readonly streamSettings: Pick<StreamSettingsWatch, 'check'>;
  /** The running actor; undefined while none runs. */
  readonly actor: () => IngestActor | undefined;
}

export type Ingest = ReturnType<typeof createIngest>;

/** Controls what this process may do with the database. */
export function createIngest(options: IngestOptions) {
  const { jetStream, database, clock, logger, retentionDays, replicas = null } = options;
  const streamOptions = { retentionDays, replicas, logger };
  const { readingsTtlDays, streamGuard, streamSettings, actor } = options;
  // A standby must not change the holder's settings.
  const ensureLease = async () => {
    await streamGuard.check();
    await ensureExists(jetStream(), { ...streamOptions, stream: 'MINER_LEASE' });
  };
  /**
   * Creates the streams, or updates their settings. Returns the streams whose loss is accepted.
   *
   * @throws OperatorError if another stream is lost.
   */
  const ensureAll = async () => {
    const lost = await streamGuard.check();
    await ensureStreams(jetStream(), { ...streamOptions, streams: streamNames });
    return lost;
  };
  const lease = () => actor()?.getSnapshot().children.lease?.getSnapshot();
  const isHeld = () => isLeaseHeld(lease(), clock);
  const onSuperseded = (error: EpochSuperseded) => actor()?.send({ type: 'superseded', error });
  const holder = `${hostname()} ${randomUUID()}`;
  const fence = (epoch: number) =>
    fenceDatabase({ database, lease: { isHeld }, epoch, holder, onSuperseded });
  const lossOptions = (): AcceptedLossOptions => ({
    ...options,
    jetStream: jetStream(),
    nowMs: clock.nowMs,
  });

  const logic = ingestMachine.provide({
    actors: {
      lease: createLease({ jetStream, clock, logger, onMissing: ensureLease }),
      checkStored: fromPromise(async () => {
        await requireSupportedServer(database);
        await requireMigrated(database);
        await streamGuard.check();
      }),
      identify: fromPromise(async () => {
        await requireSupportedServer(database);
        await ensureLease();
        const name = await readDatabaseIdentity(database);
        return { name, isUnused: (await readNewestEpoch(database)).epoch === 0 };
      }),
      ensureStreams: fromPromise(async () => {
        const { applied } = await requireUsable(database);
        const lost = await ensureAll();
        // Before the migration, so that the version that wrote the database can still run.
        if (lost.length === 0 && applied > 0) await requireComplete(lossOptions());
        await warnOfSingleReplicas(jetStream(), streamNames, logger);
        await streamSettings.check();
      }),
      migrate: fromPromise(async () => {
        await migrate(database, logger);
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
      prepareRows: fromPromise(async ({ input: { epoch } }) => {
        const fenced = fence(epoch);
        await leaveLostStreams(
          { ...lossOptions(), database: fenced },
          { epoch, holder },
          await streamGuard.check(),
        );
        await requireComplete(lossOptions());
        // Only now: until here the tables show whether rows may have expired.
        await applyReadingsTtl(fenced, { days: readingsTtlDays, nowMs: clock.nowMs() });
      }),
      checkEpoch: fromPromise(async ({ input: { epoch } }) => {
        await isNewestEpoch({ database, epoch, holder, onSuperseded });
      }),
    },
    actions: {
      reportFailure: ({ context: { writes, failures } }, { error }) => {
        const what = writes ? 'ingest' : 'tables';
        if (failures === 1) logger.warn({ err: error }, `${what}: not available yet; retrying`);
      },
      reportGrant: ({ context: { epoch } }) => logger.info({ epoch }, 'this process ingests'),
    },
  });

  return {
    logic,
    /** Name of this process, unlike any other one's. */
    holder,
    /** Whether this process holds the lease now, according to its own clock. */
    isHeld,
    /** The process that ingests while this one waits as a standby. */
    standbyFor: () => findStandbyHolder(lease()),
    /** The database with this process's rights: an ingesting process writes only while it holds the lease, in its epoch. */
    databaseIn: (epoch: number | null) => (epoch === null ? database : fence(epoch)),
    ensureStreams: ensureAll,
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
