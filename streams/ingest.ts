import { hostname } from 'node:os';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { FoldIdentity } from '../actors/foldIdentity.ts';
import { streamNames } from '../actors/messages/subjects.ts';
import type { Clock } from '../actors/views/clock.ts';
import type { Database } from '../storage/database.ts';
import {
  beginEpoch,
  databaseIdentity,
  fenceDatabase,
  isNewestEpoch,
  newestEpoch,
} from '../storage/ingestEpochs.ts';
import { migrate } from '../storage/migrations.ts';
import type { Tables } from '../storage/tables.ts';
import { sleep } from './jetstream/connection.ts';
import { ensureStreams, type StreamRetention } from './jetstream/ensureStreams.ts';
import { acquireLease, type LeaseHolder } from './jetstream/ingestLease.ts';
import { acquireLock, LockHeldError } from './jetstream/processLock.ts';
import { replaySubject } from './jetstream/replaySubject.ts';
import { chooseGeneration } from './rebuildGeneration.ts';

/** How often it is looked at whether another process has begun an epoch. */
const epochCheckMs = 5_000;
const claimRetryMs = 2_000;

export interface IngestOptions {
  readonly connection: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  /** Of the fold of the counter stream. */
  readonly identity: FoldIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly retention: StreamRetention;
  /** Called with the process that ingests while this one waits, and with null when it does not any more. */
  readonly onStandby: (holder: LeaseHolder | null) => void;
}

/** This process is the one that ingests into the database. */
export interface Ingest {
  /** Writes only while this process holds the lease. */
  readonly database: Database;
  /** Whether it still is, as far as its own clock can tell. */
  isHeld(): boolean;
  /** To write to. */
  readonly tables: Tables;
  /** The active ones while others are being filled; null otherwise. */
  rebuildsFrom(): Tables | null;
  readonly epoch: number;
  /** The counter stream's state is saved and caught up: tables that are being rebuilt become the active ones. */
  rebuilt(): void;
  /** Rejects when another process has taken over. */
  readonly lost: Promise<never>;
  release(): Promise<void>;
}

/** Waits for the lease of the database, begins an epoch, and brings the tables up to date. */
export async function acquireIngest(options: IngestOptions): Promise<Ingest> {
  const { jsm, identity, clock, logger } = options;
  await ensureStreams(jsm, ['MINER_LEASE'], options.retention, logger);
  const lease = await acquireLease({
    ...options,
    name: await databaseIdentity(options.database),
    isUnused: (await newestEpoch(options.database)) === 0,
    onMissing: () => ensureStreams(jsm, ['MINER_LEASE'], options.retention, logger),
  });
  let onSuperseded: (error: Error) => void = () => undefined;
  let watch: NodeJS.Timeout | undefined;
  try {
    // Only now: what is waiting may be configured otherwise.
    await ensureStreams(jsm, streamNames, options.retention, logger);
    const active = await migrate(options.database, logger);
    const epoch = await beginEpoch(options.database, hostname(), clock.nowMs());
    const superseded = new Promise<never>((_, reject) => {
      onSuperseded = reject;
    });
    superseded.catch(() => undefined); // Whoever waits for it handles it; nobody has to.
    const fence = { database: options.database, lease, epoch, onSuperseded };
    const database = fenceDatabase(fence);
    watch = setInterval(() => {
      // Unavailable at the moment; who needs the database logs what it says.
      isNewestEpoch(fence).catch(() => undefined);
    }, epochCheckMs);
    const choice = await chooseGeneration({
      database,
      jsm,
      active,
      identity,
      claim: () => claimOnceFree(options),
      nowMs: clock.nowMs,
      logger,
    });
    let { rebuild } = choice;
    logger.info({ epoch, generation: choice.tables.generation }, 'this process ingests');
    return {
      database,
      isHeld: lease.isHeld,
      tables: choice.tables,
      rebuildsFrom: () => (rebuild === null ? null : active),
      epoch,
      rebuilt: () => {
        const ended = rebuild;
        rebuild = null;
        ended?.activate().then(ended.release, (error: unknown) => {
          logger.warn(
            { err: error },
            'the rebuilt tables cannot be activated yet; it is tried with the next snapshot',
          );
          rebuild = ended;
        });
      },
      lost: Promise.race([lease.lost, superseded]),
      release: async () => {
        clearInterval(watch);
        rebuild?.release();
        await lease.release();
      },
    };
  } catch (error) {
    clearInterval(watch);
    await lease.release();
    throw error;
  }
}

/** Tables that an operator's replay fills are not to be replaced under its feet, nor these by another one. */
async function claimOnceFree({ connection, logger, signal }: IngestOptions): Promise<() => void> {
  for (let attempts = 0; ; attempts++) {
    try {
      return await acquireLock(connection, replaySubject, 'a replay');
    } catch (error) {
      if (!(error instanceof LockHeldError)) throw error;
      if (attempts === 0) logger.warn({ err: error }, 'the tables are rebuilt once the replay has ended');
      await sleep(claimRetryMs, signal);
      signal.throwIfAborted();
    }
  }
}
