import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openDatabase } from '../../storage/clickhouse/database.ts';
import { migrate } from '../../storage/migration/migrate.ts';

/** Statements that make the tables of a new database, and note its migrations: what later versions will have to migrate. */
export async function writeSchema(): Promise<string> {
  const path = mkdtempSync(join(tmpdir(), 'miner-schema-'));
  const database = openDatabase({ path });
  try {
    // No deployment changes the tables.
    await migrate(database, pino({ level: 'silent' }), { genesisTimestamp: 0, installationId: '' });
    const tables = await database.select(
      `SELECT replaceOne(formatQuery(create_table_query), concat(database, '.'), '') FROM system.tables
       WHERE database = currentDatabase() AND engine NOT LIKE '%View' ORDER BY name`,
    );
    const applied = await database.select('SELECT number, name FROM migrations ORDER BY number');
    const notes = applied.map(([number, name]) => `(${number}, '${name}')`);
    return [...tables.map(String), `INSERT INTO migrations (number, name) VALUES ${notes.join(', ')}`].join(
      ';\n\n',
    );
  } finally {
    await database.close();
    rmSync(path, { recursive: true });
  }
}
