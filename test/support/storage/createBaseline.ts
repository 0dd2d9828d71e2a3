import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database } from '../../../storage/clickhouse/database.ts';

const readStatements = (file: string) =>
  readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8').split(';\n\n');

/** The tables as the first release creates them, as ClickHouse reports them. */
const statements = readStatements('test/storage/baseline.sql');

/** Names of the tables of the first release. */
export const releasedTables: readonly string[] = statements.flatMap(
  (statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? [],
);

/** Creates the tables as the first release has created them. */
export async function createBaseline(database: Database): Promise<void> {
  for (const statement of statements) await database.command(statement);
}

/** Creates the tables as the newest release has created them (`npm run release`). */
export async function createReleased(database: Database): Promise<void> {
  for (const statement of readStatements('deploy/release/released.sql')) await database.command(statement);
}
