import { describe, expect, it, onTestFinished } from 'vitest';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { openDatabase } from '../../storage/database.ts';
import { deleteRows } from '../../storage/deleteRowsAbove.ts';
import { attachRows, createEmpty } from '../../storage/generations.ts';
import { migrate } from '../../storage/migrations.ts';
import { listEventTables, resolveTables } from '../../storage/tables.ts';
import { buildMeasurementEvents, feedRun } from '../support/chain/feedEvents.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const engine = useClickHouseEngine();
const locations = [
  ['the embedded engine', async () => ({ path: temporaryDirectory() })],
  ['a server', async () => ({ url: await engine.createDatabase() })],
] as const;

describe.each(locations)('a generation in %s', (_, locate) => {
  it('takes over the events of another one, with their indexes by time and by ID', async () => {
    const database = openDatabase(await locate());
    onTestFinished(() => database.close());
    const active = await migrate(database, silentLogger);
    const rebuilt = resolveTables(active.generation + 1);
    const events = buildMeasurementEvents(
      Array.from({ length: 30 }, () => ({ receivedAtMs: 0, distances: 1 })),
    );
    const measurementEvents = events.map((event) => toMeasurementRow(event, feedRun));
    await storeRows(database, active, { measurementEvents });
    await createEmpty(database, rebuilt);
    await attachRows(database, active, rebuilt);
    const countRows = async (table: string) =>
      Number((await database.select(`SELECT count() FROM ${table}`))[0]?.[0]);
    const tables = listEventTables(rebuilt.measurementEvents);
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, events.length]);
    await deleteRows(database, rebuilt, {
      sql: 'position >= {from:UInt64} AND installation_id = {installation:String}',
      parameters: { from: 21, installation: 'wheel-1' },
    });
    const kept = events.filter(({ position }) => position < 21).length;
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, kept]);
    for (const table of listEventTables(active.measurementEvents))
      expect([table, await countRows(table)]).toEqual([table, events.length]);
  });
});
