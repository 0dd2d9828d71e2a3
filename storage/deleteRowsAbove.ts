import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { Tables } from './tables.ts';

const pollMs = 50;

/** Removes the rows that were made from messages above `position`, and waits until they are gone. */
export async function deleteRowsAbove(database: Database, tables: Tables, position: number): Promise<number> {
  let removed = 0;
  for (const table of [tables.readings, tables.rounds, tables.halfHourBuckets]) {
    const count = await rowsAbove(database, table, position);
    if (count === 0) continue;
    await database.command(`ALTER TABLE ${table} DELETE WHERE position > ${position}`);
    while ((await rowsAbove(database, table, position)) > 0) await wait(pollMs);
    removed += count;
  }
  return removed;
}

async function rowsAbove(database: Database, table: string, position: number): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${table} WHERE position > ${position}`);
  return Number(row?.[0]);
}
