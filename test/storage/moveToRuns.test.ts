import { expect, it } from 'vitest';
import { toChainRow, toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database, RowCondition } from '../../storage/clickhouse/database.ts';
import { hasTable } from '../../storage/clickhouse/hasTable.ts';
import { insertRows } from '../../storage/definition/table.ts';
import { moveToRuns } from '../../storage/migration/moveToRuns.ts';
import { readRowsTtlDays } from '../../storage/rows/rowsTtl.ts';
import { openEnd, readLineage, selectVisible } from '../../storage/runs/lineages.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { ingestEpochs } from '../../storage/tables/ingestEpochs.ts';
import { lineages } from '../../storage/tables/lineages.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { type RowTable, rowTables, rowTablesOf } from '../../storage/tables/rowTables.ts';
import { buildMeasurementEvents, buildNamedEvents } from '../support/chain/feedEvents.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { releasedTables } from '../support/storage/createBaseline.ts';
import {
  deployment,
  openReleased,
  type ReleasedRow,
  readStates,
  recorded,
  rewriteReleased,
  upgrade,
} from '../support/storage/releasedDatabase.ts';

const run = 'released-1';
/** Positions of the recorded states. */
const positions: Readonly<Record<InputStreamName, number>> = {
  MINER_COUNTER: 720,
  MINER_PIPELINE: 24,
  MINER_CHAIN: 751,
};
/** Runs of the folds that the recorded states name. */
const counterRun = '1.1769860801000';
const chainRun = '4.12.12000';

const moved: readonly (readonly [from: string, to: string])[] = [
  ['readings_g1', 'stored_readings'],
  ['rounds_g1', 'stored_rounds'],
  ['half_hour_buckets_g1', 'stored_half_hour_buckets'],
  ['measurement_feed_g1', 'stored_measurement_events'],
  ['measurement_feed_ids_g1', 'stored_measurement_events_ids'],
  ['chain_feed_events', 'stored_chain_events'],
  ['chain_feed_events_ids', 'stored_chain_events_ids'],
  ['chain_owner_activity', 'stored_owner_activity'],
  ['chain_settlements', 'stored_settlements'],
  ['chain_checkpoints', 'stored_checkpoints'],
];
const measured = moved.slice(0, 3);
const measurementEvents = moved.slice(3, 5);
const chainTables = moved.slice(5);

/** The newest evicted event of the counter's state. */
const evicted = { position: 20, ordinal: 1 };

/** The recorded snapshots; the counter's state has evicted events. */
const snapshots: readonly ReleasedRow[] = recorded.rows.map((row) =>
  row.stream === 'MINER_COUNTER' && row.part === 0
    ? rewriteReleased(row, (text) =>
        text.replace(
          '"evicted":{"through":null,"throughMs":0,"atPosition":0}',
          `"evicted":{"through":${JSON.stringify(evicted)},"throughMs":1,"atPosition":300}`,
        ),
      )
    : row,
);

/** Rows with different values in every column. */
async function fillMeasured(database: Database, count: number, generation = 1): Promise<void> {
  const hour = "toDateTime64('2026-01-30 00:00:00', 3, 'UTC') + INTERVAL number HOUR";
  await database.command(
    `INSERT INTO readings_g${generation} SELECT concat('wheel-', toString(number % 3)), number + 1, generateUUIDv4(), generateUUIDv4(), number,
       ${hour}, ${hour} + INTERVAL 1 SECOND, generateUUIDv4(), pow(2, 200) + number, 'derived', if(number % 2 = 0, NULL, '1.0'), 'IDLE',
       number + 2, number + 3, number + 4
     FROM numbers(${count})`,
  );
  await database.command(
    `INSERT INTO rounds_g${generation} SELECT 'wheel-1', number, ${hour}, if(number % 2 = 0, NULL, number), number + 5 FROM numbers(${count})`,
  );
  await database.command(
    `INSERT INTO half_hour_buckets_g${generation} SELECT 'wheel-1', ${hour}, number % 3, number, number + 1, number + 2, number + 3, ${hour}, number + 4,
       ${hour}, number + 5 FROM numbers(${count})`,
  );
}

interface EventPlace {
  readonly run: string;
  readonly position: number;
  readonly ordinal?: number;
  readonly storedBy?: number;
}

/** Stores an event and its place by ID. Places by time are made of the event. */
async function storeEvent(
  database: Database,
  tables: readonly (readonly [string, string])[],
  { run: ofRun, position, ordinal = 0, storedBy }: EventPlace,
): Promise<void> {
  for (const [from] of tables) {
    const more: Record<string, string | number> = {
      ...(/_ids/.test(from) ? { id: `${position}.${ordinal}` } : { category: 'protocol' }),
      ...(storedBy !== undefined && { stored_by: storedBy }),
    };
    const values = { run: ofRun, position, ordinal, ...more };
    await insertValues(database, from, values);
  }
}

async function insertValues(
  database: Database,
  table: string,
  values: Readonly<Record<string, string | number>>,
): Promise<void> {
  const list = Object.values(values).map((value) => (typeof value === 'string' ? `'${value}'` : value));
  await database.command(
    `INSERT INTO ${table} (${Object.keys(values).join(', ')}) VALUES (${list.join(', ')})`,
  );
}

async function beginEpoch(database: Database, epoch: number): Promise<void> {
  await insertRows(database, ingestEpochs, [{ epoch, holder: `holder ${epoch}`, atMs: 0 }]);
}

/** A database of 1.0 with the states, in its first epoch. */
async function openFilled(rows: readonly ReleasedRow[] = snapshots): Promise<Database> {
  const database = await openReleased(rows);
  await beginEpoch(database, 1);
  return database;
}

async function forgetMigration(database: Database): Promise<void> {
  await database.command(
    `ALTER TABLE ${migrations.name} DELETE WHERE number > 1 SETTINGS mutations_sync = 1`,
  );
}

const definitionOf = (name: string) =>
  rowTables.find(({ definition }) => definition.name === name)?.definition as RowTable['definition'];

/** Rows of a table with the columns of the new one, without those that only the new one has. */
async function selectRows(
  database: Database,
  table: string,
  { storedColumns }: RowTable['definition'],
  { sql, parameters }: RowCondition = { sql: 'true', parameters: {} },
): Promise<unknown[]> {
  const columns = storedColumns
    .map(({ name }) => name)
    .filter((name) => name !== 'run' && name !== 'stored_by');
  return database.select(
    `SELECT ${columns.join(', ')} FROM ${table} FINAL WHERE ${sql} ORDER BY ${columns.join(', ')}`,
    parameters,
  );
}

async function listPlaces(database: Database, table: string): Promise<unknown[]> {
  return (
    await database.select(
      `SELECT run, position, stored_by FROM ${table} FINAL ORDER BY run, position, stored_by`,
    )
  ).map(String);
}

/** Everything of a stream that a lineage makes visible; null without one. The same records may be compressed in other pieces. */
async function readVisible(database: Database, stream: InputStreamName): Promise<unknown> {
  const lineage = await readLineage(database, stream);
  if (lineage === null) return null;
  const states = (await readStates(database, stream)).map(({ header, records }) => ({
    header: { ...header, checksum: '' },
    records,
  }));
  const tables = [];
  for (const { definition } of rowTablesOf(stream)) {
    const { sql, parameters } = selectVisible(lineage.runs);
    const list = definition.storedColumns.map(({ name }) => name).join(', ');
    tables.push(
      await database.select(
        `SELECT ${list} FROM ${definition.name} FINAL WHERE ${sql} ORDER BY ${list}`,
        parameters,
      ),
    );
  }
  return { lineage, states, tables };
}

/** A digest of every table of 1.0 except the migrations. */
async function digestReleased(database: Database): Promise<unknown> {
  const digests = [];
  for (const table of releasedTables.filter((name) => name !== migrations.name))
    digests.push(
      await database.select(`SELECT '${table}', count(), sum(cityHash64(toString(tuple(*)))) FROM ${table}`),
    );
  return digests;
}

/** The database, and the commands that it gets. */
function watchCommands(database: Database) {
  const commands: string[] = [];
  const watched: Database = {
    ...database,
    command: async (sql, parameters) => {
      commands.push(sql);
      await database.command(sql, parameters);
    },
  };
  return { watched, commands, copies: () => commands.filter((sql) => sql.startsWith('INSERT INTO stored_')) };
}

it('all readings, rounds and half hours move; 1.0 keeps its own', async () => {
  const database = await openFilled();
  await fillMeasured(database, 1_000);
  const before = await digestReleased(database);
  await upgrade(database);
  for (const [from, to] of measured) {
    const rows = await selectRows(database, to, definitionOf(to));
    expect(rows).toHaveLength(1_000);
    expect(rows).toEqual(await selectRows(database, from, definitionOf(to)));
    expect(
      await database.select(
        `SELECT DISTINCT run, position = stored_by, max(position) > 720 FROM ${to} GROUP BY 1, 2`,
      ),
    ).toEqual([[run, 1, 1]]);
  }
  expect(await digestReleased(database)).toEqual(before);
});

it('measurement events move if the state counts on them', async () => {
  const database = await openFilled();
  for (const place of [
    { run: counterRun, position: 3 },
    { run: counterRun, ...evicted },
    // Later ones are made again.
    { run: counterRun, position: 20, ordinal: 2 },
    { run: counterRun, position: 21 },
    { run: '1.5', position: 4 },
  ])
    await storeEvent(database, measurementEvents, place);
  await upgrade(database);
  for (const [, to] of measurementEvents)
    expect(await listPlaces(database, to)).toEqual([`${run},3,3`, `${run},20,20`]);
});

it('measurement events do not move if the state has none that are rows', async () => {
  const database = await openFilled(recorded.rows);
  await storeEvent(database, measurementEvents, { run: counterRun, position: 3 });
  await upgrade(database);
  for (const [, to] of measurementEvents) expect(await listPlaces(database, to)).toEqual([]);
});

it('events that move are found by what a fold would find them by', async () => {
  const database = await openFilled();
  const chain = buildNamedEvents(8).map((event, at) => ({ ...event, position: at + 1, ordinal: 0 }));
  const rows = chain.map((event) => toChainRow(event, { chainId: 1n, storedBy: 9 }));
  const measured = buildMeasurementEvents([{ receivedAtMs: 0, distances: 1 }], 1).map((event, ordinal) =>
    toMeasurementRow({ ...event, position: 1, ordinal }, { storedBy: 1 }),
  );
  for (const { position, ordinal, category, type, event } of rows)
    await insertValues(database, 'chain_feed_events', {
      ...{ run: chainRun, position, ordinal, category, type, event, stored_by: 9 },
    });
  for (const { position, ordinal, category, type, event } of measured)
    await insertValues(database, 'measurement_feed_g1', {
      ...{ run: counterRun, position, ordinal, category, type, event },
    });
  await upgrade(database);
  for (const [table, expected] of [
    ['stored_chain_events_keys', rows],
    ['stored_measurement_events_keys', measured],
  ] as const) {
    const found = await database.select(`SELECT position, ordinal, key FROM ${table} FINAL`);
    expect(found.map(String).sort()).toEqual(
      expected
        .flatMap(({ position, ordinal, keys }) => keys.map((key) => `${position},${ordinal},${key}`))
        .sort(),
    );
  }
});

it('rows of the chain move by the messages that stored them', async () => {
  const database = await openFilled();
  for (const [position, storedBy, ofRun] of [
    [1, 600, chainRun],
    [700, 800, chainRun],
    // An earlier fold from another first message, which went further than the fold of the state.
    [2, 900, '3.12.11000'],
    [3, 900, 'first'],
  ] as const) {
    await storeEvent(database, chainTables.slice(0, 2), { run: ofRun, position, storedBy });
    const source = { run: ofRun, position, stored_by: storedBy };
    await insertValues(database, 'chain_owner_activity', { ...source, owner: 'a', event_number: position });
    await insertValues(database, 'chain_settlements', { ...source, settlement_number: position });
    await insertValues(database, 'chain_checkpoints', { ...source, checkpoint_number: position });
  }
  await upgrade(database);
  for (const [from, to] of chainTables) {
    expect(await listPlaces(database, to)).toEqual([`${run},1,600`, `${run},700,800`]);
    expect(await selectRows(database, to, definitionOf(to))).toEqual(
      await selectRows(database, from, definitionOf(to), {
        sql: 'run = {chainRun:String}',
        parameters: { chainRun },
      }),
    );
  }
});

it('each stream has a lineage of that run, at its state', async () => {
  const database = await openFilled();
  await upgrade(database);
  for (const stream of inputStreamNames) {
    const [state] = await readStates(database, stream);
    const { foldVersion, configuration } = state?.header ?? {};
    expect(state?.header).toMatchObject({ run, position: positions[stream] });
    expect(await readLineage(database, stream)).toEqual({
      ...{ stream, foldVersion, configuration, streamCreated: `${stream} created` },
      ...{ epoch: 1, holder: 'holder 1', step: 0, cause: 'continued', continuedRun: '', notedAtMs: 0 },
      ...{ runs: [{ run, through: openEnd }], position: positions[stream] },
    });
  }
});

it('readings alone move without states, and have a lineage', async () => {
  const database = await openFilled([]);
  await fillMeasured(database, 10);
  await storeEvent(database, measurementEvents, { run: counterRun, position: 3 });
  await storeEvent(database, chainTables.slice(0, 2), { run: chainRun, position: 3, storedBy: 4 });
  await database.command(
    "INSERT INTO generations VALUES (1, 6, 'first', 'gone', 1), (1, 7, 'second', 'now', 2), (2, 7, 'third', 'other', 3)",
  );
  await upgrade(database);
  expect(await readLineage(database, 'MINER_COUNTER')).toMatchObject({
    ...{ foldVersion: 7, configuration: 'second', streamCreated: 'now', position: 0 },
    ...{ runs: [{ run, through: openEnd }] },
  });
  expect(await readLineage(database, 'MINER_CHAIN')).toBeNull();
  expect(await readLineage(database, 'MINER_PIPELINE')).toBeNull();
  for (const [, to] of measured) expect(await listPlaces(database, to)).toHaveLength(10);
  for (const [, to] of [...measurementEvents, ...chainTables])
    expect(await listPlaces(database, to)).toEqual([]);
});

it('streams without rows and states have no lineage', async () => {
  const database = await openFilled([]);
  await database.command("INSERT INTO generations VALUES (1, 7, '', 'now', 1)");
  await upgrade(database);
  for (const stream of inputStreamNames) expect(await readLineage(database, stream)).toBeNull();
});

it('the generation that the last replay made the active one moves', async () => {
  const database = await openFilled([]);
  for (const table of releasedTables.filter((name) => name.endsWith('_g1')))
    await database.command(`CREATE TABLE ${table.replace('_g1', '_g2')} AS ${table}`);
  await fillMeasured(database, 10, 1);
  await fillMeasured(database, 20, 2);
  await database.command('INSERT INTO generation_in_use VALUES (1, 3), (2, 2)');
  await database.command("INSERT INTO generations VALUES (2, 7, '', 'now', 1)");
  await upgrade(database);
  for (const [, to] of measured) expect(await listPlaces(database, to)).toHaveLength(20);
});

it('rows of 1.0 after a way back move into another run', async () => {
  const database = await openFilled();
  await fillMeasured(database, 10);
  await upgrade(database);
  await forgetMigration(database);
  await beginEpoch(database, 2);
  await fillMeasured(database, 12);
  await upgrade(database);
  for (const stream of inputStreamNames) {
    expect(await readLineage(database, stream)).toMatchObject({
      ...{ epoch: 2, runs: [{ run: 'released-2', through: openEnd }] },
    });
    expect((await readStates(database, stream)).map(({ header }) => header.run)).toContain('released-2');
  }
  expect(
    await database.select('SELECT run, count() FROM stored_readings FINAL GROUP BY run ORDER BY run'),
  ).toEqual([
    ['released-1', 10],
    ['released-2', 12],
  ]);
});

it('the TTL of the rows stays', async () => {
  const database = await openFilled();
  const ttl =
    "toDate(least(greatest(received_at, toDateTime64('1970-01-01 00:00:00', 3, 'UTC')), toDateTime64('2100-01-01 00:00:00', 3, 'UTC')))";
  await database.command(`ALTER TABLE readings_g1 MODIFY TTL ${ttl} + INTERVAL 42 DAY`);
  await upgrade(database);
  expect(await readRowsTtlDays(database)).toBe(40);
  // Setting it again would rewrite all rows.
  await forgetMigration(database);
  const { watched, commands } = watchCommands(database);
  await upgrade(watched);
  expect(commands.filter((sql) => sql.includes('TTL'))).toEqual([]);
});

it('a large month moves in full, with its progress in the log', async () => {
  const database = await openFilled([]);
  const count = 4_100_000;
  await database.command(
    `INSERT INTO readings_g1 (installation_id, position, observed_at)
     SELECT 'wheel', number + 7, '2026-01-30 00:00:00' FROM numbers(${count})`,
  );
  await database.command("INSERT INTO generations VALUES (1, 7, '', 'now', 1)");
  const { watched, copies } = watchCommands(database);
  const lines = await upgrade(watched);
  expect(copies()).toHaveLength(3);
  expect(
    await database.select(
      'SELECT count(), uniqExact(position), min(position), max(position) FROM stored_readings',
    ),
  ).toEqual([[count, count, 7, count + 6]]);
  expect(lines.join('')).toMatch(/"rows":41\d{5},"run":"released-1","msg":"all rows are copied"/);
});

it('a killed migration copies only cut-off statements again', async () => {
  const database = await openFilled();
  // The same row in two parts.
  await fillMeasured(database, 100);
  await database.command('INSERT INTO rounds_g1 SELECT * FROM rounds_g1');
  await upgrade(database);
  await forgetMigration(database);
  const complete = watchCommands(database);
  await upgrade(complete.watched);
  expect(complete.copies()).toEqual([]);

  await forgetMigration(database);
  await database.command('ALTER TABLE stored_readings DELETE WHERE position = 7 SETTINGS mutations_sync = 1');
  const partial = watchCommands(database);
  await upgrade(partial.watched);
  expect(partial.copies()).toHaveLength(1);
  expect(await selectRows(database, 'stored_readings', definitionOf('stored_readings'))).toEqual(
    await selectRows(database, 'readings_g1', definitionOf('stored_readings')),
  );
});

it('killed before any of its writes and repeated, it ends like an uninterrupted migration', async () => {
  const database = await openFilled();
  await fillMeasured(database, 50);
  await storeEvent(database, measurementEvents, { run: counterRun, position: 3 });
  await storeEvent(database, chainTables.slice(0, 2), { run: chainRun, position: 3, storedBy: 4 });
  await insertValues(database, 'chain_owner_activity', { run: chainRun, owner: 'a', stored_by: 5 });
  const undo = async () => {
    for (const { definition } of rowTables) await database.command(`DROP TABLE IF EXISTS ${definition.name}`);
    for (const table of [foldStates, lineages]) await database.command(`DROP TABLE IF EXISTS ${table.name}`);
  };
  const expected = new Map<InputStreamName, unknown>();
  const expectVisible = async (mayLack: boolean) => {
    for (const stream of inputStreamNames) {
      const visible = await readVisible(database, stream);
      if (!mayLack || visible !== null) expect(visible).toEqual(expected.get(stream));
    }
  };
  const countRows = () =>
    database.select(
      `SELECT (SELECT count() FROM ${lineages.name}), (SELECT count() FROM ${foldStates.name})`,
    );
  await moveToRuns(database, silentLogger, deployment);
  for (const stream of inputStreamNames) expected.set(stream, await readVisible(database, stream));
  const rowCounts = await countRows();
  let kills = 0;
  // A third of the places takes a third of the time, and has each kind of write.
  for (let isComplete = false; !isComplete; kills += 3) {
    await undo();
    let left = kills;
    const countDown =
      <Parameters_ extends unknown[], Result>(statement: (...given: Parameters_) => Promise<Result>) =>
      async (...given: Parameters_) => {
        // Reads change nothing, and the end of a write is the same moment as the begin of the next one.
        if (left-- <= 0) throw new Error('killed');
        return statement(...given);
      };
    const killed: Database = {
      ...database,
      command: countDown(database.command),
      insertBlocks: countDown(database.insertBlocks),
    };
    isComplete = await moveToRuns(killed, silentLogger, deployment).then(
      () => true,
      (error: Error) => {
        expect(error.message).toBe('killed');
        return false;
      },
    );
    if (!isComplete) {
      // Nothing counts before all of it is there.
      if (await hasTable(database, lineages.name)) await expectVisible(true);
      await moveToRuns(database, silentLogger, deployment);
    }
    await expectVisible(false);
    expect(await countRows()).toEqual(rowCounts);
  }
  expect(kills).toBeGreaterThan(25);
});
