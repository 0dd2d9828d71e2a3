import { type Database, openDatabase } from '../../../storage/database.ts';
import { migrate } from '../../../storage/migrations.ts';
import type { Tables } from '../../../storage/tables.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { temporaryDirectory } from '../processes/temporaryDirectory.ts';
import { silentLogger } from '../silentLogger.ts';

export interface OpenTables {
  readonly database: Database;
  readonly tables: Tables;
}

/** Opens a database with empty tables, until the test has finished. */
export async function openTables(): Promise<OpenTables> {
  const database = openDatabase({ path: temporaryDirectory() });
  whenFinished(() => database.close());
  return { database, tables: await migrate(database, silentLogger) };
}
