import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { insertRows } from '../../storage/definition/table.ts';
import { type Migration, migrate, requireMigrated } from '../../storage/migration/migrate.ts';
import { readDatabaseIdentity } from '../../storage/runs/epochFence.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openForTest } from '../support/storage/openTables.ts';

/** The embedded engine opens one folder at a time. */
async function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = openDatabase({ path: temporaryDirectory() });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Definitions of tables and columns by their names. */
async function describeSchema(database: Database): Promise<Map<string, string>> {
  const tables = await database.select(
    'SELECT name, create_table_query FROM system.tables WHERE database = currentDatabase()',
  );
  const columns = await database.select(
    `SELECT concat(table, '.', name), position, type, default_kind, default_expression, comment, compression_codec
     FROM system.columns WHERE database = currentDatabase()`,
  );
  return new Map([...tables, ...columns].map(([name, ...definition]) => [String(name), String(definition)]));
}

/** Names of the tables and columns that differ between two schemas. */
function listDifferences(one: Map<string, string>, other: Map<string, string>): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name)).sort();
}

/** The schema of the first release, as ClickHouse reports it. What is changed since then needs a migration. */
const baseline = readFileSync(resolve(import.meta.dirname, 'baseline.sql'), 'utf8');

async function createBaseline(database: Database): Promise<void> {
  for (const statement of baseline.split(';\n\n')) await database.command(statement);
}

async function listApplied(database: Database): Promise<unknown[]> {
  return (await database.select(`SELECT number, name FROM ${migrations.name} ORDER BY number`)).map(String);
}

describe('migrations', () => {
  it('make of the baseline what a new database has from the beginning', async () => {
    const migrated = await withDatabase(async (database) => {
      await createBaseline(database);
      await migrate(database, silentLogger);
      return describeSchema(database);
    });
    await withDatabase(async (database) => {
      await migrate(database, silentLogger);
      const created = await describeSchema(database);
      expect(listDifferences(migrated, created)).toEqual([]);
      await database.command('ALTER TABLE stored_rounds ADD COLUMN extra UInt8');
      const changed = await describeSchema(database);
      expect(listDifferences(created, changed)).toEqual(['stored_rounds', 'stored_rounds.extra']);
    });
  });

  it('are run once, in order, also where one was killed before it was noted', async () => {
    const run: string[] = [];
    let isKilled = true;
    const later: Migration[] = [
      { name: 'first', run: async () => void run.push('first') },
      {
        name: 'second',
        run: async () => {
          run.push('second');
          if (isKilled) throw new Error('killed here');
        },
      },
    ];
    const applied = ['baseline', ...later.map(({ name }) => name)].map(
      (name, index) => `${index + 2},${name}`,
    );
    await withDatabase(async (database) => {
      await createBaseline(database);
      await expect(migrate(database, silentLogger, later)).rejects.toThrow('killed here');
      isKilled = false;
      await migrate(database, silentLogger, later);
      await migrate(database, silentLogger, later);
      expect(run).toEqual(['first', 'second', 'second']);
      expect(await listApplied(database)).toEqual(applied);
    });
    await withDatabase(async (database) => {
      await migrate(database, silentLogger, later);
      expect(run).toHaveLength(3);
      expect(await listApplied(database)).toEqual(applied);
    });
  });

  it.each([
    ['stored_owner_activity', 'level', 'log_index'],
    ['fold_states', 'checksum', 'payload'],
    ['lineages', 'continued_run', 'noted_at_ms'],
  ])('do not begin on a schema of %s, and say what to do', (table, first, second) =>
    withDatabase(async (database) => {
      await migrate(database, silentLogger);
      await database.command(`ALTER TABLE ${table} DROP COLUMN ${first}, DROP COLUMN ${second}`);
      const refusal = {
        kind: 'unusable',
        message:
          `the database has another schema: it lacks ${table}.${first} and 1 more. ` +
          'Run the version that wrote it, or use an empty database, which is filled from the streams',
      };
      await expect(migrate(database, silentLogger)).rejects.toMatchObject(refusal);
      await expect(requireMigrated(database)).rejects.toMatchObject(refusal);
      // A number that was never released says nothing.
      await insertRows(database, migrations, [{ number: 9, name: 'of another line' }]);
      await expect(migrate(database, silentLogger)).rejects.toMatchObject(refusal);
    }),
  );
});

it('tables cover all servers of a cluster', async () => {
  const database = openForTest();
  const statements: string[] = [];
  // The embedded engine has no cluster: it runs the statements without that part.
  const onCluster: Database = {
    ...database,
    cluster: 'miner',
    command: async (sql, parameters) => {
      statements.push(sql);
      const replicated = /Replicated(\w+)\('[^']+', '\{replica\}'(?:, (\w+))?\)/;
      const local = sql.replace(" ON CLUSTER 'miner'", '').replace(replicated, '$1($2)');
      await database.command(local, parameters);
    },
  };
  await migrate(onCluster, silentLogger);
  await readDatabaseIdentity(onCluster);

  const changing = statements.filter((sql) => sql.startsWith('CREATE'));
  expect(changing.length).toBeGreaterThan(14);
  for (const sql of changing) {
    expect(sql).toContain(" ON CLUSTER 'miner'");
    const [row] = await database.select('SELECT formatQuery({sql:String})', { sql });
    expect(String(row?.[0])).toContain('ON CLUSTER');
    const [, table] = /EXISTS (\w+) /.exec(sql) as unknown as [string, string];
    expect(sql).toContain(`MergeTree('/clickhouse/tables/{shard}/{database}/${table}', '{replica}'`);
  }
});
