import type { Database, RowCondition } from '../clickhouse/database.ts';
import { selectMessages, selectVisible, type VisibleRuns } from '../runs/lineages.ts';
import { halfHourBuckets } from '../tables/halfHourBuckets.ts';
import { readings } from '../tables/readings.ts';
import { rounds } from '../tables/rounds.ts';
import { selectNotOlder } from './rowsTtl.ts';

/** Counts the rows that meet a condition, each once. */
export async function countRows(
  database: Database,
  table: string,
  { sql, parameters }: RowCondition,
): Promise<number> {
  const [row] = await database.select(`SELECT count() FROM ${table} FINAL WHERE ${sql}`, parameters);
  return Number(row?.[0]);
}

/** Rows of messages within these positions; only rows that are not older than `oldestMs` (epoch milliseconds), unless it is null. */
interface CountedRows {
  readonly runs: VisibleRuns;
  readonly firstPosition: number;
  readonly throughPosition: number;
  readonly oldestMs: number | null;
}

export async function countStored(
  database: Database,
  { runs, firstPosition, throughPosition, oldestMs }: CountedRows,
): Promise<{ readonly readings: number; readonly rounds: number }> {
  const { sql, parameters } = selectMessages(runs, { after: firstPosition - 1, through: throughPosition });
  const count = (table: string, timeColumn: string) => {
    const notOlder = selectNotOlder(timeColumn, oldestMs);
    return countRows(database, table, {
      sql: `${sql}${notOlder.sql}`,
      parameters: { ...parameters, ...notOlder.parameters },
    });
  };
  const counted = await count(readings.name, 'received_at');
  return { readings: counted, rounds: await count(rounds.name, 'start') };
}

export function countHalfHours(database: Database, runs: VisibleRuns): Promise<number> {
  return countRows(database, halfHourBuckets.name, selectVisible(runs));
}
