import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { hasTables, migrate, requireMigrated } from '../../../storage/migration/migrate.ts';
import { findLostStreams, StreamsLost } from '../../../streams/ingest/lostStreams.ts';
import { askUntilProven, createSuspicions } from '../../../streams/jetstream/proofs/suspicions.ts';
import type { JetStream } from '../../../streams/nats/natsLink.ts';
import type { BoundDeployment } from '../../configuration/configuration.ts';
import { systemClock } from '../../process/systemClock.ts';

interface ReplayParts {
  readonly connection: NatsConnection;
  readonly database: Database;
  readonly deployment: BoundDeployment;
  readonly dryRun: boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

export interface ReplayOptions extends ReplayParts, JetStream {}

/**
 * Migrates the database to this version, unless nothing may change, and collects everything for a replay.
 *
 * @throws StreamsLost, or RecordsUnavailable for a dry run on a database that is not migrated.
 */
export async function openReplay(parts: ReplayParts): Promise<ReplayOptions> {
  const { connection, database, logger, dryRun } = parts;
  const jsm = await jetstreamManager(connection);
  const suspicions = createSuspicions(systemClock);
  const lost = (await hasTables(database))
    ? await askUntilProven(() =>
        findLostStreams({ database, jetStream: { connection, jsm }, suspicions, clock: systemClock }),
      )
    : [];
  if (lost.length > 0) throw new StreamsLost(lost);
  if (dryRun) await requireMigrated(database);
  else await migrate(database, logger);
  return { ...parts, js: jetstream(connection), jsm };
}
