import { describe, expect, it } from 'vitest';
import { type Database, openDatabase, type QueryParameters } from '../../../storage/database.ts';
import { deleteRowsAbove } from '../../../storage/deleteRowsAbove.ts';
import {
  activate,
  attachRows,
  attachSnapshots,
  createEmpty,
  findActiveTables,
  listGenerations,
} from '../../../storage/generations.ts';
import { beginEpoch, readDatabaseIdentity, readNewestEpoch } from '../../../storage/ingestEpochs.ts';
import { migrate, migrationState } from '../../../storage/migrations.ts';
import { readNewestReading, readStored } from '../../../storage/observations.ts';
import { hasOpenRemoval } from '../../../storage/removals.ts';
import { applyRowsTtl, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import { createSnapshotStore } from '../../../storage/snapshots.ts';
import type { ResultRow } from '../../../storage/tables/column.ts';
import { resolveTables, type Tables } from '../../../storage/tables.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { migratedDeployment } from '../../support/storage/migratedDeployment.ts';
import { storedRows } from '../../support/storage/storedRows.ts';
import { storeRows } from '../../support/storage/storeRows.ts';
import { createSimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';

/** The simulated database behind the service's interface to ClickHouse. */
function openSimulated(): Database {
  const server = createSimulatedClickHouse({ startMutation: setImmediate });
  return {
    kind: 'server',
    cluster: null,
    insertMarks: () => null,
    command: async (sql: string, parameters: QueryParameters = {}) => server.command(sql, parameters),
    insertBlocks: async (table, blocks) => server.insert(table, blocks),
    select: async (sql, parameters = {}) => server.query(sql, parameters) as unknown as ResultRow[],
    selectPlain: async (columns, source, parameters = {}) =>
      server
        .query(`SELECT ${columns.join(', ')} ${source}`, parameters)
        .map((row) => row.map((cell) => String(cell))),
    close: async () => undefined,
  };
}

/** The service's own statements give the same results on ClickHouse and on the simulated database. */
function itAgrees(rule: string, observe: (database: Database, tables: Tables) => Promise<unknown>) {
  it(rule, async () => {
    const found: unknown[] = [];
    for (const database of [openDatabase({ path: temporaryDirectory() }), openSimulated()]) {
      const tables = await migrate(database, silentLogger, migratedDeployment);
      found.push(await observe(database, tables));
      await database.close();
    }
    expect(found[1]).toEqual(found[0]);
  });
}

const insert = (database: Database, tables: Tables, from: number, count: number) =>
  storeRows(database, tables, storedRows(from, count));

async function readings(database: Database, tables: Tables) {
  const found: unknown[] = [];
  for await (const some of readStored(database, tables, { after: 0, through: 1_000, oldestMs: null }))
    found.push(...some);
  return found;
}

const count = async (database: Database, table: string) =>
  (await database.select(`SELECT count(), max(position) FROM ${table} FINAL`)).map((row) => row.map(Number));

async function collect(lines: AsyncIterable<readonly string[]>): Promise<string[]> {
  const all: string[] = [];
  for await (const some of lines) all.push(...some);
  return all.filter((line) => line !== '');
}

describe('ClickHouse, real and simulated', () => {
  itAgrees('is created once, and knows its migrations', async (database, tables) => {
    await migrate(database, silentLogger, migratedDeployment);
    return [
      tables,
      await migrationState(database),
      await listGenerations(database),
      await findActiveTables(database),
    ];
  });

  itAgrees(
    'shows rows as they were written, and those that were written twice once',
    async (database, tables) => {
      await insert(database, tables, 1, 60);
      await insert(database, tables, 31, 60);
      return {
        readings: await readings(database, tables),
        newest: await readNewestReading(database, tables),
        rounds: await count(database, tables.rounds),
        halfHours: await count(database, tables.halfHourBuckets),
      };
    },
  );

  itAgrees('removes rows above a position, and says when it is done', async (database, tables) => {
    await insert(database, tables, 1, 60);
    const removed = await deleteRowsAbove(database, { tables, stream: 'MINER_COUNTER', position: 20 });
    return [removed, await count(database, tables.readings), await hasOpenRemoval(database)];
  });

  itAgrees('saves states, lists and reads them, and removes those above', async (database, tables) => {
    const store = createSnapshotStore({ database, tables: () => tables });
    const header = (position: number) => ({
      stream: 'MINER_COUNTER' as const,
      run: '',
      foldVersion: 1,
      configuration: 'configuration',
      streamCreated: 'created',
      position,
      digest: `digest ${position}`,
      takenAtMs: position,
    });
    const records = (text: string) => [{ kind: 'one', key: 'a', value: text }] as never;
    for (const position of [10, 20, 30]) await store.save(header(position), records(`at ${position}`));
    const listed = await store.list('MINER_COUNTER');
    const read = await Promise.all(listed.map(async (one) => [one.position, await collect(store.read(one))]));
    await store.deleteAbove('MINER_COUNTER', 20);
    return { listed, read, left: (await store.list('MINER_COUNTER')).map(({ position }) => position) };
  });

  itAgrees('brings partitions into another generation, and moves the pointer', async (database, tables) => {
    await insert(database, tables, 1, 60);
    const next = resolveTables(2);
    await createEmpty(database, next);
    await attachRows(database, tables, next);
    await attachSnapshots(database, { from: tables, to: next, stream: 'MINER_COUNTER', position: null });
    await activate(database, next);
    return [
      await findActiveTables(database),
      await readings(database, next),
      await listGenerations(database),
    ];
  });

  itAgrees('counts the epochs of those that write', async (database) => {
    const before = await readNewestEpoch(database);
    const name = await readDatabaseIdentity(database);
    const begin = (holder: string, leaseSequence: number) =>
      beginEpoch(database, { lease: { isHeld: () => true }, leaseSequence, holder, nowMs: 1 });
    const epochs = [await begin('one', 3), await begin('two', 1)];
    return [before, name.length, name === (await readDatabaseIdentity(database)), epochs];
  });

  itAgrees('gives tables a TTL, and takes it from them', async (database, tables) => {
    await applyRowsTtl(database, tables, { days: 40, nowMs: 0 });
    const given = await readRowsTtlDays(database, tables.readings);
    await applyRowsTtl(database, tables, { days: 0, nowMs: 0 });
    return [given, await readRowsTtlDays(database, tables.readings)];
  });

  itAgrees('refuses a table and a column that are not there', async (database, tables) => {
    await insert(database, tables, 1, 60);
    const refused = async (sql: string) =>
      database.select(sql).then(
        () => 'answered',
        () => 'refused',
      );
    return [
      await refused('SELECT position FROM no_such_table'),
      await refused(`SELECT no_such_column FROM ${tables.readings}`),
    ];
  });
});
