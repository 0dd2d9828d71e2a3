import type { Database } from '../../../storage/database.ts';
import { migrate } from '../../../storage/migrations.ts';
import { createRowWriter } from '../../../streams/pipeline/rowWriter.ts';
import { manualClock } from '../manualClock.ts';
import { silentLogger } from '../silentLogger.ts';

/** A writer of rows into the tables of a database, which it brings up to date first. */
export async function openWriter(database: Database) {
  const tables = await migrate(database, silentLogger);
  const writer = createRowWriter({
    stream: 'MINER_COUNTER',
    database,
    tables: () => tables,
    clock: manualClock(),
    logger: silentLogger,
  });
  return { tables, writer };
}
