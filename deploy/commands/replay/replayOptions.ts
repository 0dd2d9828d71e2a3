import type { Logger } from 'pino';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { hasTables, migrate, requireMigrated } from '../../../storage/migration/migrate.ts';
import { findLostStreams, refuseLostStreams } from '../../../streams/ingest/lostStreams.ts';
import { askUntilProven, createSuspicions } from '../../../streams/jetstream/proofs/suspicions.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';
import type { BoundDeployment } from '../../configuration/configuration.ts';
import { systemClock } from '../../process/systemClock.ts';

export interface ReplayOptions {
  readonly jetStream: StreamPort;
  readonly database: Database;
  readonly deployment: BoundDeployment;
  readonly dryRun: boolean;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Makes sure that no stream is lost, and migrates the database to this version, unless nothing may change.
 *
 * @throws OperatorError if one is lost, or StoreUnavailable for a dry run on a database that is not migrated.
 */
export async function prepareReplay({ jetStream, database, logger, dryRun }: ReplayOptions): Promise<void> {
  const suspicions = createSuspicions(systemClock);
  const lost = (await hasTables(database))
    ? await askUntilProven(() => findLostStreams({ database, jetStream, suspicions, clock: systemClock }))
    : [];
  if (lost.length > 0) throw refuseLostStreams(lost);
  if (dryRun) await requireMigrated(database);
  else await migrate(database, logger);
}
