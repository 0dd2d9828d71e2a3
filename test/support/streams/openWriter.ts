import type { Logger } from 'pino';
import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { migrate } from '../../../storage/migration/migrate.ts';
import { createRowWriter } from '../../../streams/pipeline/rowWriter.ts';
import { type ManualClock, manualClock } from '../manualClock.ts';
import { silentLogger } from '../silentLogger.ts';

/** Migrates a database and opens a writer to its tables. */
export async function openWriter(
  database: Database,
  {
    stream = 'MINER_COUNTER',
    clock = manualClock(),
    run = () => 'run',
    logger = silentLogger,
  }: { stream?: InputStreamName; clock?: ManualClock; run?: () => string; logger?: Logger } = {},
) {
  await migrate(database, silentLogger);
  const writer = createRowWriter({
    stream,
    database,
    run,
    clock,
    logger,
  });
  return { writer };
}
