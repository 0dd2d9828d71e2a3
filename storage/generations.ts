import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import { createGenerationTables, createRowTables, listRowTables, rowTables } from './rowTables.ts';
import { generationPointer } from './tables/generationPointer.ts';
import { insertRows, onCluster } from './tables/table.ts';
import { resolveCheckedTables, resolveTables, type Tables } from './tables.ts';
import { replaceViews } from './views.ts';

export const firstGeneration = 1;

/** The tables of the active generation, which has the highest swap. */
export async function findActiveTables(database: Database): Promise<Tables> {
  return resolveTables((await readPointer(database)).generation);
}

async function readPointer(database: Database): Promise<{ swap: number; generation: number }> {
  const [row] = await database.select(
    `SELECT swap, generation FROM ${generationPointer.name} ORDER BY swap DESC LIMIT 1`,
  );
  return { swap: Number(row?.[0] ?? 0), generation: Number(row?.[1] ?? firstGeneration) };
}

/** Makes a generation active by a single row, so there is no state in between. Then replaces the views. May be repeated if that failed. */
export async function activate(database: Database, tables: Tables): Promise<void> {
  const { generation } = tables;
  const active = await readPointer(database);
  if (active.generation !== generation)
    await insertRows(database, generationPointer, [{ swap: active.swap + 1, generation }]);
  await replaceViews(database, tables);
}

export async function createEmpty(database: Database, tables: Tables): Promise<void> {
  await dropTables(database, tables);
  await createGenerationTables(database, tables);
}

/** Creates empty tables for a check of everything, including the chain's tables. {@link dropTables} removes them. */
export async function createChecked(database: Database, tables: Tables): Promise<void> {
  await createEmpty(database, tables);
  await createRowTables(database, tables, 'MINER_CHAIN');
}

/** Removes the tables of a generation, and tables of a check that ended early. */
export async function dropTables(database: Database, tables: Tables): Promise<void> {
  const ofChain = listRowTables(resolveCheckedTables(tables.generation), 'MINER_CHAIN');
  // The table of readings goes last: `listGenerations` finds the generation until then.
  for (const table of [...ofChain, tables.foldStates, ...listRowTables(tables, 'MINER_COUNTER')])
    await database.command(`DROP TABLE IF EXISTS ${table}${onCluster(database.cluster)} SYNC`);
}

/** Generations that have a table, ascending. */
export async function listGenerations(database: Database): Promise<number[]> {
  const rows = await database.select(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'readings_g%'",
  );
  return rows
    .map(([name]) => Number(/^readings_g(\d+)$/.exec(String(name))?.[1]))
    .filter((generation) => !Number.isNaN(generation))
    .sort((a, b) => a - b);
}

/**
 * Brings all readings, rounds, buckets and events of one generation into an empty one. Partitions are attached, not copied, so a year takes no
 * longer than a day.
 */
export async function attachRows(database: Database, from: Tables, to: Tables): Promise<void> {
  for (const { stream, resolveName } of rowTables) {
    if (stream !== 'MINER_COUNTER') continue;
    const [source, target] = [resolveName(from), resolveName(to)];
    for (const { id } of await listPartitions(database, source))
      await attachPartition(database, { id, source, target });
  }
}

interface AttachedSnapshots {
  readonly from: Tables;
  readonly to: Tables;
  readonly stream: InputStreamName;
  /** Null for all positions. */
  readonly position: number | null;
}

/** Brings snapshots of a stream into another generation: all of them, or only the one of a position. */
export async function attachSnapshots(
  database: Database,
  { from, to, stream, position }: AttachedSnapshots,
): Promise<void> {
  const partitions = await database.select(
    `SELECT DISTINCT _partition_id FROM ${from.foldStates}
     WHERE stream = {stream:String}${position === null ? '' : ' AND position = {position:Int64}'}`,
    { stream, position: position ?? 0 },
  );
  const [source, target] = [from.foldStates, to.foldStates];
  for (const [partition] of partitions) {
    const id = String(partition);
    await database.command(`ALTER TABLE ${target} DROP PARTITION ID {id:String}`, { id });
    await attachPartition(database, { id, source, target });
  }
}

/** Drops snapshots of the counter above a position except one. Also drops the state of the installations that a replay of one leaves alone. */
export async function dropCounterSnapshots(
  database: Database,
  { foldStates: table }: Tables,
  { abovePosition, exceptPosition }: { readonly abovePosition: number; readonly exceptPosition: number },
): Promise<void> {
  const partitions = await database.select(
    `SELECT DISTINCT _partition_id FROM ${table} WHERE stream = 'MINER_COUNTER beside'
     OR (stream = 'MINER_COUNTER' AND position > {above:Int64} AND position != {except:Int64})`,
    { above: abovePosition, except: exceptPosition },
  );
  for (const [id] of partitions)
    await database.command(`ALTER TABLE ${table} DROP PARTITION ID {id:String}`, { id: String(id) });
}

async function attachPartition(
  database: Database,
  { id, source, target }: { readonly id: string; readonly source: string; readonly target: string },
): Promise<void> {
  await database.command(`ALTER TABLE ${target} ATTACH PARTITION ID {id:String} FROM ${source}`, { id });
}

interface Partition {
  readonly id: string;
  /** Value of the partition's expression in ClickHouse's notation. */
  readonly value: string;
  /** Rows of its parts, including duplicates. */
  readonly rows: number;
}

export async function listPartitions(database: Database, table: string): Promise<Partition[]> {
  const rows = await database.select(
    `SELECT partition_id, any(partition), sum(rows) FROM system.parts
     WHERE active AND database = currentDatabase() AND table = {table:String}
     GROUP BY partition_id ORDER BY partition_id`,
    { table },
  );
  return rows.map(([id, value, count]) => ({ id: String(id), value: String(value), rows: Number(count) }));
}
