import { describe, expect, it } from 'vitest';
import { toMeasurementRow } from '../../actors/feed/eventRows.ts';
import { deleteRows } from '../../storage/deleteRowsAbove.ts';
import { attachRows, createEmpty } from '../../storage/generations.ts';
import { resolveTables } from '../../storage/tables.ts';
import { buildMeasurementEvents, feedRun } from '../support/chain/feedEvents.ts';
import { openTables, useBothLocations } from '../support/storage/openTables.ts';
import { storeRows } from '../support/storage/storeRows.ts';

describe.each(useBothLocations())('a generation in %s', (_, locate) => {
  it('takes over the events of another one, with their indexes by time and by ID', async () => {
    const { database, tables: active } = await openTables(await locate());
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
    const tables = Object.values(rebuilt.measurementEvents);
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, events.length]);
    await deleteRows(database, rebuilt, {
      sql: 'position >= {from:UInt64} AND installation_id = {installation:String}',
      parameters: { from: 21, installation: 'wheel-1' },
    });
    const kept = events.filter(({ position }) => position < 21).length;
    for (const table of tables) expect([table, await countRows(table)]).toEqual([table, kept]);
    for (const table of Object.values(active.measurementEvents))
      expect([table, await countRows(table)]).toEqual([table, events.length]);
  });
});
