import type { Database } from './database.ts';
import { rowTables } from './rowTables.ts';
import { agedRows } from './tables/agedRows.ts';
import { insertRows, onCluster } from './tables/table.ts';
import type { Tables } from './tables.ts';

/**
 * Fewest days that rows stay for, where they do not stay for ever: the state that is folded from stored readings, where the stream does not hold their
 * messages any more, needs those of the longest window of the statistics, 30 universal days, and of the days that it begins and ends in.
 */
export const rowsTtlDaysMin = 32;
/** More days than this, some 27 years, would go beyond the dates that ClickHouse can add to. */
export const rowsTtlDaysMax = 9_999;

const dayMs = 86_400_000;
/** The rest of the day that a row is of, and another one: what a page may show is there, whatever the clocks. */
const marginDays = 2;

/**
 * The time before which rows are not read any more (epoch milliseconds); null where all are. ClickHouse removes them a day later and part by part, so
 * without this a page would have holes behind it.
 */
export type OldestRowMs = () => number | null;

/** @param days that rows stay for; 0 keeps all of them. */
export function createOldestRowMs(days: number, nowMs: () => number): OldestRowMs {
  return () => (days === 0 ? null : nowMs() - days * dayMs);
}

/** SQL that leaves out rows whose time lies before {@link OldestRowMs}, to follow other conditions, and its parameters. */
export function selectNotOlder(column: string, oldestMs: number | null) {
  if (oldestMs === null) return { sql: '', parameters: {} };
  return {
    sql: ` AND ${column} >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')`,
    parameters: { oldestMs: Math.floor(oldestMs) },
  };
}

/**
 * Gives the tables of a generation, and those of the chain's events, the TTL, or takes it from them. What has it is left as it is. ClickHouse removes old
 * rows in the background, when it merges. What a TTL that ends may have removed is noted first.
 *
 * @param days that rows stay for; 0 keeps all of them.
 */
export async function applyRowsTtl(
  database: Database,
  tables: Tables,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<void> {
  const times = listTimes(tables);
  const current = await readTtls(
    database,
    times.map(({ table }) => table),
  );
  const ending = current.get(tables.readings) ?? 0;
  if (ending > 0 && ending !== days)
    await insertRows(database, agedRows, [{ goneBeforeMs: nowMs - ending * dayMs, atMs: nowMs }]);
  for (const { table, column } of times) {
    if (current.get(table) === days) continue;
    const change = days === 0 ? 'REMOVE TTL' : `MODIFY TTL ${writeTtl(column, days)}`;
    await database.command(`ALTER TABLE ${table}${onCluster(database.cluster)} ${change}`);
  }
}

/** Days that rows of a table stay for; 0 where all of them do. */
export async function readRowsTtlDays(database: Database, table: string): Promise<number> {
  return (await readTtls(database, [table])).get(table) ?? 0;
}

/** The same of several tables. */
async function readTtls(database: Database, tables: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await database.select(
    `SELECT name, engine_full FROM system.tables
     WHERE database = currentDatabase() AND name IN {tables:Array(String)}`,
    { tables },
  );
  return new Map(
    rows.map(([name, engine]) => {
      const days = / TTL .*toIntervalDay\((\d+)\)/.exec(String(engine))?.[1];
      return [String(name), days === undefined ? 0 : Number(days) - marginDays];
    }),
  );
}

/**
 * The time before which rows of readings may be gone (epoch milliseconds), by the TTL that is in force or by an earlier one; null where there was none:
 * all readings that were accepted have a row then.
 */
export async function readRowsGoneBeforeMs(
  database: Database,
  tables: Tables,
  nowMs: number,
): Promise<number | null> {
  const days = await readRowsTtlDays(database, tables.readings);
  const [row] = await database.select(`SELECT count(), max(gone_before_ms) FROM ${agedRows.name}`);
  const [count, noted] = [Number(row?.[0]), Number(row?.[1])];
  const times = [...(days === 0 ? [] : [nowMs - days * dayMs]), ...(count === 0 ? [] : [noted])];
  return times.length === 0 ? null : Math.max(...times);
}

/** Tables of rows that age, with the time that they age by. */
function listTimes(tables: Tables): { readonly table: string; readonly column: string }[] {
  return rowTables.flatMap(({ agesBy, resolveName }) =>
    agesBy === null ? [] : [{ table: resolveName(tables), column: agesBy }],
  );
}

/** A time of a broken clock may lie outside of the dates that a TTL can have, and would come back inside as another one. */
function writeTtl(column: string, days: number): string {
  const dateTime = (text: string) => `toDateTime64('${text} 00:00:00', 3, 'UTC')`;
  const inside = `least(greatest(${column}, ${dateTime('1970-01-01')}), ${dateTime('2100-01-01')})`;
  return `toDate(${inside}) + INTERVAL ${days + marginDays} DAY`;
}
