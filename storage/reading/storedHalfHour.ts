import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { bucketMs } from '../../actors/wheel/roundFold.ts';
import type { Database } from '../clickhouse/database.ts';
import { selectVisible, selectWithin, type VisibleRuns } from '../runs/lineages.ts';
import { halfHourBuckets, type StoredBucket } from '../tables/halfHourBuckets.ts';
import { readings } from '../tables/readings.ts';
import { rounds, type StoredRound } from '../tables/rounds.ts';

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
  runs: VisibleRuns,
  { installationId: installation, startMs, fromPosition, throughPosition }: HalfHourQuery,
): Promise<StoredHalfHour> {
  const visible = selectVisible(runs);
  const window = { ...visible.parameters, installation, startMs, endMs: startMs + bucketMs };
  const lies = (column: string) =>
    `${visible.sql} AND installation_id = {installation:String} AND ${column} >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC')
     AND ${column} < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')`;
  const readingRows = await database.select(
    `SELECT ${readings.list} FROM ${readings.name} WHERE ${lies('observed_at')}
     AND position >= {from:UInt64} AND position <= {through:UInt64} ORDER BY position LIMIT 1 BY position`,
    { ...window, from: fromPosition, through: throughPosition },
  );
  const roundRows = await database.select(
    `SELECT ${rounds.list} FROM ${rounds.name} FINAL WHERE ${lies('start')} ORDER BY round_id`,
    window,
  );
  const [bucket] = await database.select(
    `SELECT ${halfHourBuckets.list} FROM ${halfHourBuckets.name} FINAL WHERE ${lies('start')}`,
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
  runs: VisibleRuns,
  {
    installationId: installation,
    sequence,
    observedBeforeMs,
  }: { readonly installationId: string; readonly sequence: number; readonly observedBeforeMs: number },
): Promise<number | null> {
  const visible = selectVisible(selectWithin(runs, 0, sequence));
  const [row] = await database.select(
    `SELECT position FROM ${readings.name} WHERE ${visible.sql} AND installation_id = {installation:String} AND position < {sequence:UInt64}
     AND observed_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC') ORDER BY position DESC LIMIT 1`,
    { ...visible.parameters, installation, sequence, before: observedBeforeMs },
  );
  return row === undefined ? null : Number(row[0]);
}

/** Position of the oldest stored reading of an installation; null without one. */
export async function findFirstReading(
  database: Database,
  runs: VisibleRuns,
  installation: string,
): Promise<number | null> {
  const visible = selectVisible(runs);
  const [row] = await database.select(
    `SELECT position FROM ${readings.name} WHERE ${visible.sql} AND installation_id = {installation:String}
     ORDER BY position LIMIT 1`,
    { ...visible.parameters, installation },
  );
  return row === undefined ? null : Number(row[0]);
}
