import type { Database } from './database.ts';
import { selectNotOlder } from './rowsTtl.ts';
import type { Tables } from './tables.ts';

/** Rows of messages within these positions; only rows that are not older than `oldestMs` (epoch milliseconds), unless it is null. */
interface CountedRows {
  readonly firstPosition: number;
  readonly throughPosition: number;
  readonly oldestMs: number | null;
}

export async function countStored(
  database: Database,
  tables: Tables,
  { firstPosition, throughPosition, oldestMs }: CountedRows,
): Promise<{ readonly readings: number; readonly rounds: number }> {
  const count = async (table: string, timeColumn: string) => {
    const notOlder = selectNotOlder(timeColumn, oldestMs);
    const [row] = await database.select(
      `SELECT count() FROM ${table} FINAL WHERE position >= {first:UInt64} AND position <= {through:UInt64}${notOlder.sql}`,
      { first: firstPosition, through: throughPosition, ...notOlder.parameters },
    );
    return Number(row?.[0]);
  };
  const readings = await count(tables.readings, 'received_at');
  return { readings, rounds: await count(tables.rounds, 'start') };
}

export async function countHalfHours(database: Database, { halfHourBuckets }: Tables): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${halfHourBuckets} FINAL`);
  return Number(row?.[0]);
}

export async function hasReadings(database: Database, { readings }: Tables): Promise<boolean> {
  return (await database.select(`SELECT position FROM ${readings} LIMIT 1`)).length > 0;
}
