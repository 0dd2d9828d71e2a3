import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import type { Database } from '../../../storage/database.ts';
import { migrate } from '../../../storage/migrations.ts';
import { createRowWriter } from '../../../streams/pipeline/rowWriter.ts';
import { manualClock } from '../manualClock.ts';
import { silentLogger } from '../silentLogger.ts';

/** Migrates a database and opens a writer to its tables. */
export async function openWriter(database: Database, stream: InputStreamName = 'MINER_COUNTER') {
  const tables = await migrate(database, silentLogger);
  const writer = createRowWriter({
    stream,
    database,
    tables: () => tables,
    clock: manualClock(),
    logger: silentLogger,
  });
  return { tables, writer };
}
