import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import { foldSnapshots } from './tables/foldSnapshots.ts';
import { generationPointer } from './tables/generationPointer.ts';
import { insertRows } from './tables/table.ts';
import { createStatements, listEventTables, resolveTables, type Tables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

export const firstGeneration = 1;

/** The tables of the active generation: that of the highest swap. */
export async function activeTables(database: Database): Promise<Tables> {
  const rows = await database.select(
    `SELECT generation FROM ${generationPointer.name} ORDER BY swap DESC LIMIT 1`,
  );
  return resolveTables(Number(rows[0]?.[0] ?? firstGeneration));
}

/** Makes a generation the active one: one row, so it is or it is not. */
export async function activate(database: Database, tables: Tables): Promise<void> {
  const [row] = await database.select(`SELECT max(swap) FROM ${generationPointer.name}`);
  await insertRows(database, generationPointer, [
    { swap: Number(row?.[0]) + 1, generation: tables.generation },
  ]);
}

/** Creates the tables of a generation, empty. */
export async function createEmpty(database: Database, tables: Tables): Promise<void> {
  await dropTables(database, tables);
  for (const statement of createStatements(tables)) await database.command(statement);
}

export async function dropTables(database: Database, tables: Tables): Promise<void> {
  for (const table of listTables(tables)) await database.command(`DROP TABLE IF EXISTS ${table}`);
}

/** Generations that have a table, ascending. */
export async function listGenerations(database: Database): Promise<number[]> {
  const rows = await database.select(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'readings_g%'",
  );
  return rows
    .map(([name]) => Number(/^readings_g(\d+)$/.exec(name as string)?.[1]))
    .filter((generation) => !Number.isNaN(generation))
    .sort((a, b) => a - b);
}

/**
 * Brings all readings, rounds, buckets and events of one generation into another, which is empty. Partitions are attached, not
 * copied, so this takes no longer for a year than for a day.
 */
export async function attachRows(database: Database, from: Tables, to: Tables): Promise<void> {
  const targets = listRowTables(to);
  for (const [at, source] of listRowTables(from).entries()) {
    const target = targets[at] as string;
    for (const partition of await listPartitions(database, source))
      await database.command(`ALTER TABLE ${target} ATTACH PARTITION ${partition} FROM ${source}`);
  }
}

/** Brings snapshots of a stream into another generation: all of them, or those of a position without what follows it. */
export async function attachSnapshots(
  database: Database,
  from: Tables,
  to: Tables,
  wanted: { readonly stream: InputStreamName; readonly position: number | null },
): Promise<void> {
  const { stream, position } = wanted;
  const ofStream = `stream = ${sqlString(stream)}`;
  if (position !== null) {
    const ofPosition = `SELECT snapshot FROM ${from.foldSnapshots} WHERE ${ofStream} AND position = ${position}`;
    // Increments behind the position share its partition.
    await database.command(
      `INSERT INTO ${to.foldSnapshots} (${foldSnapshots.list}) SELECT ${foldSnapshots.list} FROM ${from.foldSnapshots}
       WHERE ${ofStream} AND position <= ${position} AND snapshot IN (${ofPosition})`,
    );
    return;
  }
  const names = await database.select(
    `SELECT DISTINCT snapshot FROM ${from.foldSnapshots} WHERE ${ofStream}`,
  );
  for (const [name] of names) {
    const partition = sqlString(name as string);
    await database.command(`ALTER TABLE ${to.foldSnapshots} DROP PARTITION ${partition}`);
    await database.command(
      `ALTER TABLE ${to.foldSnapshots} ATTACH PARTITION ${partition} FROM ${from.foldSnapshots}`,
    );
  }
}

/** Partitions of a table as statements write them. */
export async function listPartitions(database: Database, table: string): Promise<string[]> {
  const rows = await database.select(
    `SELECT DISTINCT partition FROM system.parts
     WHERE active AND database = currentDatabase() AND table = ${sqlString(table)}`,
  );
  return rows.map(([partition]) => String(partition));
}

function listTables(tables: Tables): string[] {
  return [...listRowTables(tables), tables.foldSnapshots];
}

function listRowTables({ readings, rounds, halfHourBuckets, measurementEvents }: Tables): string[] {
  return [readings, rounds, halfHourBuckets, ...listEventTables(measurementEvents)];
}
