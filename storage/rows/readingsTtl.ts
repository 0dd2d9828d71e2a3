import { dayMs } from '../../actors/schemas/durations.ts';
import type { Database } from '../clickhouse/database.ts';
import { insertRows, onCluster } from '../definition/table.ts';
import { agedRows } from '../tables/agedRows.ts';
import { readings } from '../tables/readings.ts';

/**
 * Shortest time that readings may be kept, in days. A state that is folded from stored readings needs the longest window of the statistics, 30
 * universal days, and the days in which it begins and ends.
 */
export const readingsTtlDaysMin = 32;
/** About 27 years. With more days ClickHouse's dates would overflow. */
export const readingsTtlDaysMax = 9_999;

/** Covers the rest of a row's day and one more, so no row disappears that a page may still show, even if clocks differ. */
const marginDays = 2;

/**
 * Readers leave out readings received before this time (epoch milliseconds); null reads all. ClickHouse removes rows later and part by part, so
 * without this limit pages would have holes.
 */
export type OldestReadingMs = () => number | null;

/** @param days for which readings are kept; 0 keeps them for ever. */
export function createOldestReadingMs(days: number, nowMs: () => number): OldestReadingMs {
  return () => (days === 0 ? null : nowMs() - days * dayMs);
}

/** SQL that leaves out rows before a time, to append to other conditions, and its parameters. */
export function selectNotOlder(column: string, oldestMs: number | null) {
  if (oldestMs === null) return { sql: '', parameters: {} };
  return {
    sql: ` AND ${column} >= fromUnixTimestamp64Milli({oldestMs:Int64}, 'UTC')`,
    parameters: { oldestMs: Math.floor(oldestMs) },
  };
}

/**
 * Sets or removes the TTL of the readings, if it differs. They alone grow with the wheels. ClickHouse removes old rows in the background, when it
 * merges. If a TTL ends, first notes which rows it may have removed.
 *
 * @param days for which readings are kept; 0 keeps them for ever.
 */
export async function applyReadingsTtl(
  database: Database,
  { days, nowMs }: { readonly days: number; readonly nowMs: number },
): Promise<void> {
  const ending = await readReadingsTtlDays(database);
  if (ending === days) return;
  if (ending > 0)
    await insertRows(database, agedRows, [{ goneBeforeMs: nowMs - ending * dayMs, atMs: nowMs }]);
  const change = days === 0 ? 'REMOVE TTL' : `MODIFY TTL ${writeTtl(days)}`;
  await database.command(`ALTER TABLE ${readings.name}${onCluster(database.cluster)} ${change}`);
}

/** Days for which readings are kept; 0 if they are kept for ever. */
export async function readReadingsTtlDays(database: Database): Promise<number> {
  const [row] = await database.select(
    'SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name: readings.name },
  );
  const days = / TTL .*toIntervalDay\((\d+)\)/.exec(String(row?.[0]))?.[1];
  return days === undefined ? 0 : Number(days) - marginDays;
}

/**
 * Readings received before this time (epoch milliseconds) may be gone because of the current TTL or an earlier one. Null if there was no TTL, so
 * every accepted reading has a row.
 */
export async function readReadingsGoneBeforeMs(database: Database, nowMs: number): Promise<number | null> {
  const days = await readReadingsTtlDays(database);
  const [row] = await database.select(`SELECT count(), max(gone_before_ms) FROM ${agedRows.name}`);
  const [count, noted] = [Number(row?.[0]), Number(row?.[1])];
  const times = [...(days === 0 ? [] : [nowMs - days * dayMs]), ...(count === 0 ? [] : [noted])];
  return times.length === 0 ? null : Math.max(...times);
}

/** Limits times of broken clocks to the dates that a TTL can hold. Others would wrap around. */
function writeTtl(days: number): string {
  const dateTime = (text: string) => `toDateTime64('${text} 00:00:00', 3, 'UTC')`;
  const inside = `least(greatest(received_at, ${dateTime('1970-01-01')}), ${dateTime('2100-01-01')})`;
  return `toDate(${inside}) + INTERVAL ${days + marginDays} DAY`;
}
