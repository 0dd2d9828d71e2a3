import { type Database, type DatabaseLocation, openDatabase } from '../../../storage/clickhouse/database.ts';
import { migrate } from '../../../storage/migration/migrate.ts';
import { buildInserts, encodeRows } from '../../../storage/rows/rowInserts.ts';
import { type FoldedRows, noRows } from '../../../storage/tables/foldedRows.ts';
import { useClickHouseEngine } from '../processes/clickHouseEngine.ts';
import { temporaryDirectory, whenFinished } from '../processes/lifetime.ts';
import { silentLogger } from '../silentLogger.ts';

/** A database that is closed when the test has finished: an empty embedded one unless a location is given. */
export function openForTest(location: DatabaseLocation = { path: temporaryDirectory() }): Database {
  const database = openDatabase(location);
  whenFinished(() => database.close());
  return database;
}

/** Both ways to an empty database, for tests of statements: the embedded engine, and the same engine over HTTP. */
export function useBothLocations() {
  const engine = useClickHouseEngine();
  return [
    ['the embedded engine', async (): Promise<DatabaseLocation> => ({ path: temporaryDirectory() })],
    ['a server', async (): Promise<DatabaseLocation> => ({ url: await engine.createDatabase() })],
  ] as const;
}

export interface OpenTables {
  readonly database: Database;
}

/** Such a database with empty tables. */
export async function openTables(location?: DatabaseLocation): Promise<OpenTables> {
  const database = openForTest(location);
  await migrate(database, silentLogger);
  return { database };
}

/** Stores rows as the writer of a stream does. */
export async function storeRows(database: Database, rows: Partial<FoldedRows>, run = 'run'): Promise<void> {
  const encoded = encodeRows({ ...noRows, throughPosition: 0, ...rows }, run);
  for (const { table, blocks } of buildInserts([encoded])) await database.insertBlocks(table, blocks);
}
