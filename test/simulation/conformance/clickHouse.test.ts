import { describe, expect, it } from 'vitest';
import { type Database, openDatabase, type QueryParameters } from '../../../storage/clickhouse/database.ts';
import type { ResultRow } from '../../../storage/definition/column.ts';
import { migrate, migrationState } from '../../../storage/migration/migrate.ts';
import { readStored } from '../../../storage/reading/observations.ts';
import { beginEpoch, readDatabaseIdentity, readNewestEpoch } from '../../../storage/runs/epochFence.ts';
import { findContinuedReplay, findReplay } from '../../../storage/runs/fills.ts';
import { findTip, noteLineage, openEnd, readLineage } from '../../../storage/runs/lineages.ts';
import { mergeRuns, readCounted } from '../../../storage/runs/mergedRuns.ts';
import { createSnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import { halfHourBuckets } from '../../../storage/tables/halfHourBuckets.ts';
import { readings } from '../../../storage/tables/readings.ts';
import { rounds } from '../../../storage/tables/rounds.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { someLineage } from '../../support/storage/someLineage.ts';
import { storedRows } from '../../support/storage/storedRows.ts';
import { storeRows } from '../../support/storage/storeRows.ts';
import { createSimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';

/** The simulated database behind the service's interface to ClickHouse. */
function openSimulated(): Database {
  const server = createSimulatedClickHouse();
  return {
    kind: 'server',
    cluster: null,
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
function itAgrees(rule: string, observe: (database: Database) => Promise<unknown>) {
  it(rule, async () => {
    const found: unknown[] = [];
    for (const database of [openDatabase({ path: temporaryDirectory() }), openSimulated()]) {
      await migrate(database, silentLogger);
      found.push(await observe(database));
      await database.close();
    }
    expect(found[1]).toEqual(found[0]);
  });
}

const insert = (database: Database, from: number, count: number, run?: string) =>
  storeRows(database, storedRows(from, count), run);

async function readAll(database: Database) {
  const found: unknown[] = [];
  const runs = [
    { run: 'run', through: 40 },
    { run: 'other', through: openEnd },
  ];
  for await (const some of readStored(database, { runs, after: 0, through: 1_000, oldestMs: null }))
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
  itAgrees('is created once, and knows its migrations', async (database) => {
    await migrate(database, silentLogger);
    return migrationState(database);
  });

  itAgrees('shows rows as they were written, and those that were written twice once', async (database) => {
    await insert(database, 1, 60);
    await insert(database, 31, 60);
    await insert(database, 41, 60, 'other');
    return {
      readings: await readAll(database),
      rounds: await count(database, rounds.name),
      halfHours: await count(database, halfHourBuckets.name),
    };
  });

  itAgrees('finds histories, replays and the newest message of a row, and joins runs', async (database) => {
    await insert(database, 1, 60);
    await insert(database, 41, 60, 'other');
    const runs = [
      { run: 'run', through: 40 },
      { run: 'other', through: 90 },
    ];
    const lineage = { ...someLineage, stream: 'MINER_COUNTER', runs } as const;
    await noteLineage(database, lineage, 1);
    const filled = [...runs.slice(0, 1), { run: 'filled', through: openEnd }];
    await noteLineage(
      database,
      { ...lineage, cause: 'filled', runs: filled, continuedRun: 'run', step: 2 },
      2,
    );
    const found = await readLineage(database, 'MINER_COUNTER');
    const replay = await findReplay(database, 'MINER_COUNTER', lineage, found);
    const waiting = await findContinuedReplay(database, 'MINER_COUNTER', lineage);
    await noteLineage(database, { ...lineage, step: 3, continuedRun: 'filled' }, 3);
    const joined = await mergeRuns(database, {
      stream: 'MINER_COUNTER',
      runs: [...runs, { run: 'more', through: 95 }, { run: 'last', through: openEnd }],
      name: 'joined',
      epoch: 1,
      holder: 'one',
      nowMs: 4,
    });
    return {
      found,
      replay,
      waiting,
      taken: await findContinuedReplay(database, 'MINER_COUNTER', lineage),
      after: await findReplay(database, 'MINER_COUNTER', lineage, found),
      tips: [await findTip(database, lineage), await findTip(database, lineage, 95)],
      joined,
      isCounted: await readCounted(database, { stream: 'MINER_COUNTER', runs: joined }).then((isCounted) =>
        [40, 41].map((position) => isCounted({ run: 'run', position })),
      ),
      rows: await count(database, readings.name),
    };
  });

  itAgrees('saves states, lists and reads them, and drops those that are not retained', async (database) => {
    const store = createSnapshotStore(database);
    const header = (position: number) => ({
      stream: 'MINER_COUNTER' as const,
      run: 'run',
      foldVersion: 1,
      configuration: 'configuration',
      streamCreated: 'created',
      position,
      digest: `digest ${position}`,
      takenAtMs: position,
    });
    const records = (text: string) => [{ kind: 'one', key: 'a', value: text }] as never;
    for (const position of [10, 20, 30, 40, 50])
      await store.save(header(position), records(`at ${position}`), () => true);
    const listed = await store.list('MINER_COUNTER');
    const read = await Promise.all(listed.map(async (one) => [one.position, await collect(store.read(one))]));
    return { listed, read };
  });

  itAgrees('counts the epochs of those that write', async (database) => {
    const before = await readNewestEpoch(database);
    const name = await readDatabaseIdentity(database);
    const begin = (holder: string, leaseSequence: number) =>
      beginEpoch(database, { lease: { isHeld: () => true }, leaseSequence, holder, nowMs: 1 });
    const epochs = [await begin('one', 3), await begin('two', 1)];
    return [before, name.length, name === (await readDatabaseIdentity(database)), epochs];
  });

  itAgrees('refuses a table and a column that are not there', async (database) => {
    await insert(database, 1, 60);
    const refused = async (sql: string) =>
      database.select(sql).then(
        () => 'answered',
        () => 'refused',
      );
    return [
      await refused('SELECT position FROM no_such_table'),
      await refused(`SELECT no_such_column FROM ${readings.name}`),
    ];
  });
});
