import { describe, expect, it, onTestFinished } from 'vitest';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { noRows } from '../../actors/storedRows.ts';
import { type DatabaseLocation, openDatabase } from '../../storage/database.ts';
import { deleteRows } from '../../storage/deleteRowsAbove.ts';
import { attachRows, createEmpty } from '../../storage/generations.ts';
import { migrate } from '../../storage/migrations.ts';
import { buildInserts, createRowEncoder } from '../../storage/rowInserts.ts';
import { listEventTables, resolveTables } from '../../storage/tables.ts';
import { feedRun, measurementEventsOf } from '../support/chain/feedEvents.ts';
import { clickHouseServerAvailable, startClickHouseServer } from '../support/processes/clickHouseServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

const engines: readonly (readonly [string, boolean, () => Promise<DatabaseLocation>])[] = [
  ['the embedded engine', true, async () => ({ path: temporaryDirectory() })],
  [
    'a server',
    clickHouseServerAvailable(),
    async () => {
      const server = await startClickHouseServer();
      onTestFinished(() => server.kill());
      return { url: server.url };
    },
  ],
];

describe.each(engines)('a generation in %s', (_, isAvailable, locate) => {
  it.skipIf(!isAvailable)(
    'takes over the events of another one, with their places by time and by ID',
    async () => {
      const database = openDatabase(await locate());
      onTestFinished(() => database.close());
      const active = await migrate(database, silentLogger);
      const rebuilt = resolveTables(active.generation + 1);
      const events = measurementEventsOf(
        Array.from({ length: 30 }, () => ({ receivedAtMs: 0, distances: 1 })),
      );
      const measurementEvents = events.map((event) => toMeasurementRow(event, feedRun));
      const rows = createRowEncoder()({ ...noRows, measurementEvents, throughPosition: 30 });
      for (const { table, columns, bytes } of buildInserts(active, [rows]))
        await database.insertBytes(table, columns, bytes);
      await createEmpty(database, rebuilt);
      await attachRows(database, active, rebuilt);
      const countOf = async (table: string) =>
        Number((await database.select(`SELECT count() FROM ${table}`))[0]?.[0]);
      const tables = listEventTables(rebuilt.measurementEvents);
      for (const table of tables) expect([table, await countOf(table)]).toEqual([table, events.length]);
      await deleteRows(database, rebuilt, "position >= 21 AND installation_id = 'wheel-1'");
      const kept = events.filter(({ position }) => position < 21).length;
      for (const table of tables) expect([table, await countOf(table)]).toEqual([table, kept]);
      for (const table of listEventTables(active.measurementEvents))
        expect([table, await countOf(table)]).toEqual([table, events.length]);
    },
  );
});
