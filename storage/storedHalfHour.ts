import type { CounterReading } from '../actors/wheel/counterReading.ts';
import { bucketMs } from '../actors/wheel/roundFold.ts';
import type { Database } from './database.ts';
import { halfHourBuckets, type StoredBucket } from './tables/halfHourBuckets.ts';
import { readings } from './tables/readings.ts';
import { rounds, type StoredRound } from './tables/rounds.ts';
import type { Tables } from './tables.ts';

export interface StoredHalfHour {
  readonly readings: readonly CounterReading[];
  readonly rounds: readonly StoredRound[];
  /** Null without a row. */
  readonly bucket: StoredBucket | null;
}

interface HalfHourQuery {
  readonly installationId: string;
  readonly startMs: number;
  /** Range of positions of its readings. */
  readonly fromPosition: number;
  readonly throughPosition: number;
}

export async function readHalfHour(
  database: Database,
  tables: Tables,
  { installationId: installation, startMs, fromPosition, throughPosition }: HalfHourQuery,
): Promise<StoredHalfHour> {
  const window = { installation, startMs, endMs: startMs + bucketMs };
  const lies = (column: string) =>
    `installation_id = {installation:String} AND ${column} >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
     AND ${column} < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')`;
  const readingRows = await database.select(
    `SELECT ${readings.list} FROM ${tables.readings} WHERE ${lies('observed_at')}
     AND position >= {from:UInt64} AND position <= {through:UInt64} ORDER BY position LIMIT 1 BY position`,
    { ...window, from: fromPosition, through: throughPosition },
  );
  const roundRows = await database.select(
    `SELECT ${rounds.list} FROM ${tables.rounds} FINAL WHERE ${lies('start')} ORDER BY round_id`,
    window,
  );
  const [bucket] = await database.select(
    `SELECT ${halfHourBuckets.list} FROM ${tables.halfHourBuckets} FINAL WHERE ${lies('start')}`,
    window,
  );
  return {
    readings: readingRows.map(readings.read),
    rounds: roundRows.map(rounds.read),
    bucket: bucket === undefined ? null : halfHourBuckets.read(bucket),
  };
}

/** Position of the newest stored reading below `sequence` that was observed before a time (epoch milliseconds); null without one. */
export async function findReadingBefore(
  database: Database,
  tables: Tables,
  {
    installationId: installation,
    sequence,
    observedBeforeMs,
  }: { readonly installationId: string; readonly sequence: number; readonly observedBeforeMs: number },
): Promise<number | null> {
  const [row] = await database.select(
    `SELECT position FROM ${tables.readings} WHERE installation_id = {installation:String} AND position < {sequence:UInt64}
     AND observed_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC') ORDER BY installation_id DESC, position DESC LIMIT 1`,
    { installation, sequence, before: observedBeforeMs },
  );
  return row === undefined ? null : Number(row[0]);
}

/** Position of the oldest stored reading of an installation; null without one. */
export async function findFirstReading(
  database: Database,
  tables: Tables,
  installation: string,
): Promise<number | null> {
  const [row] = await database.select(
    `SELECT position FROM ${tables.readings} WHERE installation_id = {installation:String}
     ORDER BY installation_id, position LIMIT 1`,
    { installation },
  );
  return row === undefined ? null : Number(row[0]);
}
