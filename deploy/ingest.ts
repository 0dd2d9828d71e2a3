import { hostname } from 'node:os';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Clock } from '../actors/clock.ts';
import type { FoldIdentity } from '../actors/foldIdentity.ts';
import type { Database } from '../storage/database.ts';
import { beginEpoch, databaseIdentity, fenceDatabase } from '../storage/ingestEpochs.ts';
import { migrate } from '../storage/migrations.ts';
import type { Tables } from '../storage/tables.ts';
import { acquireLease, type LeaseHolder } from '../streams/ingestLease.ts';
import { claimSole } from '../streams/soleHolder.ts';
import { chooseGeneration } from './rebuildGeneration.ts';
import { replaySubject } from './replay/replaySubject.ts';

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
  /** Creates the streams again, should one vanish. */
  readonly ensureStreams: () => Promise<void>;
  /** Called with the process that ingests while this one waits, and with null when it does not any more. */
  readonly onStandby: (holder: LeaseHolder | null) => void;
}

/** This process is the one that ingests into the database. */
export interface Ingest {
  /** Writes only while this process holds the lease. */
  readonly database: Database;
  /** To write to. */
  readonly tables: Tables;
  readonly epoch: number;
  /** The counter stream's state is saved and caught up: tables that are being rebuilt become the active ones. */
  rebuilt(): void;
  /** Rejects when another process has taken over. */
  readonly lost: Promise<never>;
  release(): Promise<void>;
}

/** Waits for the lease of the database, begins an epoch, and brings the tables up to date. */
export async function acquireIngest(options: IngestOptions): Promise<Ingest> {
  const { connection, jsm, identity, clock, logger } = options;
  const lease = await acquireLease({
    ...options,
    name: await databaseIdentity(options.database),
    onMissing: options.ensureStreams,
  });
  try {
    const active = await migrate(options.database, logger);
    const epoch = await beginEpoch(options.database, hostname(), clock.nowMs());
    const database = fenceDatabase(options.database, lease, epoch);
    const choice = await chooseGeneration({
      database,
      jsm,
      active,
      identity,
      // Tables that an operator's replay fills are not to be replaced under its feet, nor these by another one.
      claim: () => claimSole(connection, replaySubject, 'a replay'),
      nowMs: clock.nowMs,
      logger,
    });
    let { rebuild } = choice;
    logger.info({ epoch, generation: choice.tables.generation }, 'this process ingests');
    return {
      database,
      tables: choice.tables,
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
      lost: lease.lost,
      release: async () => {
        rebuild?.release();
        await lease.release();
      },
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}
