import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { insertRows } from '../../../storage/definition/table.ts';
import { migrations } from '../../../storage/tables/migrations.ts';

/** The tables as the first release creates them, as ClickHouse reports them. */
const statements = readFileSync(resolve(import.meta.dirname, '../../storage/baseline.sql'), 'utf8').split(
  ';\n\n',
);

/** Names of the tables of the first release. */
export const releasedTables: readonly string[] = statements.map(
  (statement) => /^CREATE TABLE (\w+)/.exec(statement)?.[1] ?? '',
);

/** Creates the tables as the first release has created them. */
export async function createBaseline(database: Database): Promise<void> {
  for (const statement of statements) await database.command(statement);
  await insertRows(database, migrations, [{ number: 1, name: 'baseline' }]);
}
