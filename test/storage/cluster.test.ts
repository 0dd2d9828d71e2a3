import { expect, it } from 'vitest';
import type { Database } from '../../storage/database.ts';
import { dropTables } from '../../storage/generations.ts';
import { readDatabaseIdentity } from '../../storage/ingestEpochs.ts';
import { migrate } from '../../storage/migrations.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { openForTest } from '../support/storage/openTables.ts';

it('on a cluster every table, view and removal covers all servers, in statements that ClickHouse parses', async () => {
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
  const tables = await migrate(onCluster, silentLogger);
  await readDatabaseIdentity(onCluster);
  await dropTables(onCluster, tables);

  const changing = statements.filter((sql) => /^(CREATE|DROP)/.test(sql));
  expect(changing.length).toBeGreaterThan(25);
  for (const sql of changing) {
    expect(sql).toContain(" ON CLUSTER 'miner'");
    const [row] = await database.select('SELECT formatQuery({sql:String})', { sql });
    expect(String(row?.[0])).toContain('ON CLUSTER');
    if (!sql.startsWith('CREATE TABLE')) continue;
    const [, table] = /EXISTS (\w+) /.exec(sql) as unknown as [string, string];
    expect(sql).toContain(`MergeTree('/clickhouse/tables/{shard}/{database}/${table}', '{replica}'`);
  }
});
