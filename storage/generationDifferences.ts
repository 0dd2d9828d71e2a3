import { dayMs } from '../actors/schemas/durations.ts';
import type { Database } from './database.ts';
import { listPartitions } from './generations.ts';
import { digestRow } from './rowDigest.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import type { Tables } from './tables.ts';

const noonMs = dayMs / 2;
const digestModulus = 2n ** 64n;

interface DayRows {
  readonly readings: number;
  readonly rounds: number;
  readonly buckets: number;
}

/** A day whose rows differ between two generations in number or content. */
export interface DayDifference {
  readonly installationId: string;
  /** Start of the universal day (epoch milliseconds). */
  readonly startMs: number;
  readonly before: DayRows;
  readonly after: DayRows;
}

/** Messages whose rows are compared. */
interface ComparedRange {
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Null for all. */
  readonly installationId: string | null;
}

interface Counted {
  readonly count: number;
  readonly digest: bigint;
}

const kinds = ['readings', 'rounds', 'buckets'] as const;
type Kind = (typeof kinds)[number];

/** Days of a range whose rows differ between two generations, ascending. Rows are compared by digest. */
export async function compareDays(
  database: Database,
  generations: { readonly before: Tables; readonly after: Tables },
  range: ComparedRange,
): Promise<DayDifference[]> {
  const found = new Map<string, { installationId: string; startMs: number }>();
  const counted = new Map<string, Counted>();
  for (const [side, tables] of Object.entries(generations)) {
    for (const kind of kinds) {
      for (const [installationId, day, count, digest] of await countDays(database, {
        tables,
        kind,
        ...range,
      })) {
        const key = `${day} ${installationId}`;
        found.set(key, { installationId, startMs: day * dayMs + noonMs });
        const place = `${side} ${kind} ${key}`;
        const known = counted.get(place) ?? { count: 0, digest: 0n };
        // A day may lie in two partitions.
        counted.set(place, {
          count: known.count + count,
          digest: (known.digest + digest) % digestModulus,
        });
      }
    }
  }
  const findRows = (side: string, key: string): DayRows => {
    const count = (kind: Kind) => counted.get(`${side} ${kind} ${key}`)?.count ?? 0;
    return { readings: count('readings'), rounds: count('rounds'), buckets: count('buckets') };
  };
  const isSame = (key: string) =>
    kinds.every(
      (kind) =>
        (counted.get(`before ${kind} ${key}`)?.digest ?? 0n) ===
          (counted.get(`after ${kind} ${key}`)?.digest ?? 0n) &&
        findRows('before', key)[kind] === findRows('after', key)[kind],
    );
  return [...found]
    .filter(([key]) => !isSame(key))
    .map(([key, about]) => ({ ...about, before: findRows('before', key), after: findRows('after', key) }))
    .sort((a, b) => a.startMs - b.startMs || a.installationId.localeCompare(b.installationId));
}

const work = rounds.select('workUnits');

/** Work of the observed rounds of one day; null if the work of a round exceeds its column. */
export async function sumDayWorkUnits(
  database: Database,
  tables: Tables,
  { installationId, startMs }: Pick<DayDifference, 'installationId' | 'startMs'>,
): Promise<bigint | null> {
  const rows = await database.select(
    `SELECT ${work.list} FROM ${tables.rounds} FINAL WHERE installation_id = {installation:String}
     AND start >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
     AND start < fromUnixTimestamp64Milli({through:Int64}, 'UTC')`,
    { installation: installationId, from: startMs, through: startMs + dayMs },
  );
  return rows
    .map(work.read)
    .reduce<bigint | null>(
      (sum, { workUnits }) => (sum === null || workUnits === null ? null : sum + workUnits),
      0n,
    );
}

const sources = {
  readings: { resolveName: (tables: Tables) => tables.readings, definition: readings },
  rounds: { resolveName: (tables: Tables) => tables.rounds, definition: rounds },
  buckets: { resolveName: (tables: Tables) => tables.halfHourBuckets, definition: halfHourBuckets },
};

interface CountedRange extends ComparedRange {
  readonly tables: Tables;
  readonly kind: Kind;
}

/** Rows per installation and day, with their summed digests. Counts one partition at a time, so that no statement takes long. */
async function countDays(
  database: Database,
  { tables, kind, fromSequence, throughSequence, installationId }: CountedRange,
): Promise<(readonly [string, number, number, bigint])[]> {
  const { resolveName, definition } = sources[kind];
  const { timeColumn, partitionExpression } = definition;
  const table = resolveName(tables);
  const only = installationId === null ? '' : ' AND installation_id = {installation:String}';
  const range = { from: fromSequence, through: throughSequence, installation: installationId ?? '' };
  const days: (readonly [string, number, number, bigint])[] = [];
  for (const { value } of await listPartitions(database, table)) {
    const rows = await database.select(
      `SELECT installation_id, intDiv(toUnixTimestamp64Milli(${timeColumn}) - ${noonMs}, ${dayMs}) AS day, count(), toString(sum(${digestRow(definition)}))
       FROM ${table} FINAL WHERE ${partitionExpression} = {month:UInt32}
       AND position >= {from:UInt64} AND position <= {through:UInt64}${only} GROUP BY installation_id, day`,
      { ...range, month: Number(value) },
    );
    for (const [installation, day, number, digest] of rows)
      days.push([String(installation), Number(day), Number(number), BigInt(String(digest))]);
  }
  return days;
}
