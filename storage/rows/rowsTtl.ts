import { dayMs } from '../../actors/schemas/durations.ts';
import type { Database } from '../clickhouse/database.ts';
import { insertRows, onCluster } from '../definition/table.ts';
import { agedRows } from '../tables/agedRows.ts';
import { readings } from '../tables/readings.ts';
import { rowTables } from '../tables/rowTables.ts';

/**
 * Shortest time that rows may be kept, in days. A state that is folded from stored readings needs the longest window of the statistics, 30 universal
 * days, and the days in which it begins and ends.
 */
export const rowsTtlDaysMin = 32;
/** About 27 years. With more days ClickHouse's dates would overflow. */
export const rowsTtlDaysMax = 9_999;

/** Covers the rest of a row's day and one more, so no row disappears that a page may still show, even if clocks differ. */
const marginDays = 2;

/**
 * Readers leave out rows before this time (epoch milliseconds); null reads all. ClickHouse removes rows later and part by part, so without this limit
 * pages would have holes.
 */
export type OldestRowMs = () => number | null;

/** @param days for which rows are kept; 0 keeps them for ever. */
export function createOldestRowMs(days: number, nowMs: () => number): OldestRowMs {
  return () => (days === 0 ? null : nowMs() - days * dayMs);
}

/** SQL that leaves out rows before {@link OldestRowMs}, to append to other conditions, and its parameters. */
export function selectNotOlder(column: string, oldestMs: number | null) {
  if (oldestMs === null) return { sql: '', parameters: {} };
  return {
    sql: ` AND ${column} >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')`,
    parameters: { oldestMs: Math.floor(oldestMs) },
  };
}

/**
 * Sets or removes the TTL of tables whose rows age, where it differs. ClickHouse removes old rows in the background, when it
 * merges. If a TTL ends, first notes which rows it may have removed.
 *
 * @param days for which rows are kept; 0 keeps them for ever.
 */
export async function applyRowsTtl(
  database: Database,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<void> {
  const times = rowTables.flatMap(({ agesBy, definition: { name } }) =>
    agesBy === null ? [] : [{ table: name, column: agesBy }],
  );
  const current = await readTtls(
    database,
    times.map(({ table }) => table),
  );
  const ending = current.get(readings.name) ?? 0;
  if (ending > 0 && ending !== days)
    await insertRows(database, agedRows, [{ goneBeforeMs: nowMs - ending * dayMs, atMs: nowMs }]);
  for (const { table, column } of times) {
    if (current.get(table) === days) continue;
    const change = days === 0 ? 'REMOVE TTL' : `MODIFY TTL ${writeTtl(column, days)}`;
    await database.command(`ALTER TABLE ${table}${onCluster(database.cluster)} ${change}`);
  }
}

/** Days for which rows are kept; 0 if they are kept for ever. */
export async function readRowsTtlDays(database: Database): Promise<number> {
  return (await readTtls(database, [readings.name])).get(readings.name) ?? 0;
}

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
 * Rows of readings before this time (epoch milliseconds) may be gone because of the current TTL or an earlier one. Null if there was no TTL, so every
 * accepted reading has a row.
 */
export async function readRowsGoneBeforeMs(database: Database, nowMs: number): Promise<number | null> {
  const days = await readRowsTtlDays(database);
  const [row] = await database.select(`SELECT count(), max(gone_before_ms) FROM ${agedRows.name}`);
  const [count, noted] = [Number(row?.[0]), Number(row?.[1])];
  const times = [...(days === 0 ? [] : [nowMs - days * dayMs]), ...(count === 0 ? [] : [noted])];
  return times.length === 0 ? null : Math.max(...times);
}

/** Limits times of broken clocks to the dates that a TTL can hold. Others would wrap around. */
function writeTtl(column: string, days: number): string {
  const dateTime = (text: string) => `toDateTime64('${text} 00:00:00', 3, 'UTC')`;
  const inside = `least(greatest(${column}, ${dateTime('1970-01-01')}), ${dateTime('2100-01-01')})`;
  return `toDate(${inside}) + INTERVAL ${days + marginDays} DAY`;
}
