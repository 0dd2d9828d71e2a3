import type { Logger } from 'pino';
import type { Database } from '../database.ts';
import { dropTable, dropTables, listGenerations, listPartitions } from '../generations.ts';
import { createChainTables, createGenerationTables, listRowTables, rowTables } from '../rowTables.ts';
import { foldSnapshots } from '../tables/foldSnapshots.ts';
import { generationPointer } from '../tables/generationPointer.ts';
import { generations } from '../tables/generations.ts';
import { replays } from '../tables/replays.ts';
import { createTable, insertRows } from '../tables/table.ts';
import { listEventTables, resolveTables, type Tables } from '../tables.ts';
import { type CopiedTable, copyRows } from './copyRows.ts';
import { readPointer, secondPointer, untypedChainTables, untypedSnapshotColumns } from './untypedTables.ts';

/**
 * Brings the rows of the tables without types into the next generation, which has them, and makes it the active one. It may be killed at any
 * step: what was copied is compared with its source and not copied again. Processes of earlier versions that still run keep to their
 * tables, which stay; the pointer is another one, since they could not read what it points to.
 */
export async function typeTables(database: Database, logger: Logger): Promise<void> {
  await createTable(database, generationPointer);
  const [pointed] = await database.select(`SELECT count() FROM ${generationPointer.name}`);
  if (Number(pointed?.[0]) > 0) return;
  const untyped = resolveUntypedTables(await readPointer(database, secondPointer));
  const typed = resolveTables(await chooseGeneration(database, untyped.generation));
  await createGenerationTables(database, typed);
  await createChainTables(database, typed);
  const copied = pairTables(untyped, typed);
  // Before the rows: what a snapshot covers was stored before it.
  await copySnapshots(database, untyped, typed);
  await copyRows(database, copied, logger);
  await database.command(
    `INSERT INTO ${generations.name} (${generations.list})
     SELECT {typed:Int64}, fold_version, configuration, stream_created, at_ms
     FROM ${generations.name} WHERE generation = {untyped:Int64} ORDER BY at_ms DESC LIMIT 1`,
    { typed: typed.generation, untyped: untyped.generation },
  );
  await insertRows(database, generationPointer, [{ swap: 1, generation: typed.generation }]);
  const left = [...copied.map(({ from }) => from), untyped.foldSnapshots];
  logger.warn(
    { remove: left.map((table) => `DROP TABLE ${table}`).join('; ') },
    'the tables of the version before are left as they are: remove them when no process of that version runs any more',
  );
}

/** Tables of a generation of the versions before: the names are the same, those of events of the chain aside. */
function resolveUntypedTables(generation: number): Tables {
  return { ...resolveTables(generation), chainEvents: untypedChainTables };
}

/** The generation that an earlier attempt has begun to fill, or the next one that nothing has used. */
async function chooseGeneration(database: Database, untyped: number): Promise<number> {
  for (const generation of await listGenerations(database)) {
    if (generation <= untyped) continue;
    if (await hasTypes(database, resolveTables(generation))) return generation;
    // What a rebuild or a replay of the version before has begun: this version cannot continue it.
    await dropTables(database, resolveTables(generation));
  }
  const [replayed] = await database.select(`SELECT max(generation) FROM ${replays.name}`);
  const [noted] = await database.select(`SELECT max(generation) FROM ${generations.name}`);
  return Math.max(untyped, Number(replayed?.[0]), Number(noted?.[0])) + 1;
}

async function hasTypes(database: Database, tables: Tables): Promise<boolean> {
  const [row] = await database.select(
    `SELECT type FROM system.columns
     WHERE database = currentDatabase() AND table = {table:String} AND name = 'telemetry_id'`,
    { table: tables.readings },
  );
  return row?.[0] === 'UUID';
}

/** Those that the version before had: of the chain, only events. Readings first, which are most of the rows. */
function pairTables(untyped: Tables, typed: Tables): CopiedTable[] {
  const had = [...listRowTables(untyped, 'MINER_COUNTER'), ...listEventTables(untyped.chainEvents)];
  return rowTables
    .toReversed()
    .map(({ definition, resolveName }) => ({
      definition,
      from: resolveName(untyped),
      to: resolveName(typed),
    }))
    .filter(({ from }) => had.includes(from));
}

/** All of them: an earlier attempt may have brought over some that were replaced since. What they do not say of format and part is the default. */
async function copySnapshots(database: Database, from: Tables, to: Tables): Promise<void> {
  const [source, target] = [from.foldSnapshots, to.foldSnapshots];
  await dropTable(database, target);
  await createTable(database, foldSnapshots, target);
  // One by one: each is a partition, and an insertion may have only so many.
  for (const { id } of await listPartitions(database, source))
    await database.command(
      `INSERT INTO ${target} (${untypedSnapshotColumns}) SELECT ${untypedSnapshotColumns} FROM ${source} WHERE _partition_id = {id:String}`,
      { id },
    );
}
