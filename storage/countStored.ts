import type { Database } from './database.ts';
import { selectVisible, type VisibleRuns } from './lineages.ts';
import { selectNotOlder } from './rowsTtl.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';

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
  const visible = selectVisible(runs);
  const count = async (table: string, timeColumn: string) => {
    const notOlder = selectNotOlder(timeColumn, oldestMs);
    const [row] = await database.select(
      `SELECT count() FROM ${table} FINAL WHERE ${visible.sql}
       AND stored_by >= {first:UInt64} AND stored_by <= {through:UInt64}${notOlder.sql}`,
      { ...visible.parameters, first: firstPosition, through: throughPosition, ...notOlder.parameters },
    );
    return Number(row?.[0]);
  };
  const counted = await count(readings.name, 'received_at');
  return { readings: counted, rounds: await count(rounds.name, 'start') };
}

export async function countHalfHours(database: Database, runs: VisibleRuns): Promise<number> {
  const { sql, parameters } = selectVisible(runs);
  const [row] = await database.select(
    `SELECT count() FROM ${halfHourBuckets.name} FINAL WHERE ${sql}`,
    parameters,
  );
  return Number(row?.[0]);
}
