import type { Database } from './database.ts';
import { listPartitions } from './generations.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import type { Table } from './tables/table.ts';
import type { Tables } from './tables.ts';
import { sqlString } from './tabSeparated.ts';

const noonMs = 43_200_000;
const dayMs = 86_400_000;
const digestModulus = 2n ** 64n;

/** Rows of one installation and universal day. */
export interface DayRows {
  readonly readings: number;
  readonly rounds: number;
  readonly buckets: number;
}

/** A day that two generations hold differently: in number or in content. */
export interface DayDifference {
  readonly installationId: string;
  /** Start of the universal day (epoch milliseconds). */
  readonly startMs: number;
  readonly before: DayRows;
  readonly after: DayRows;
}

/** Rows that are compared: those made by messages of a range. */
export interface ComparedRange {
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

/** Days of a range whose rows are not the same in two generations, ascending, each row compared by a digest. */
export async function dayDifferences(
  database: Database,
  before: Tables,
  after: Tables,
  range: ComparedRange,
): Promise<DayDifference[]> {
  const found = new Map<string, { installationId: string; startMs: number }>();
  const counted = new Map<string, Counted>();
  for (const [side, tables] of [
    ['before', before],
    ['after', after],
  ] as const) {
    for (const kind of kinds) {
      for (const [installationId, day, count, digest] of await countDays(database, tables, kind, range)) {
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

/** Work of the observed rounds of one day. */
export async function workUnitsOfDay(
  database: Database,
  tables: Tables,
  { installationId, startMs }: Pick<DayDifference, 'installationId' | 'startMs'>,
): Promise<bigint> {
  const rows = await database.select(
    `SELECT ${work.list} FROM ${tables.rounds} FINAL WHERE installation_id = ${sqlString(installationId)}
     AND start_ms >= ${startMs} AND start_ms < ${startMs + dayMs}`,
  );
  return rows.map(work.read).reduce((sum, { workUnits }) => sum + workUnits, 0n);
}

const sources = {
  readings: { nameOf: (tables: Tables) => tables.readings, definition: readings },
  rounds: { nameOf: (tables: Tables) => tables.rounds, definition: rounds },
  buckets: { nameOf: (tables: Tables) => tables.halfHourBuckets, definition: halfHourBuckets },
};

/** A row's columns as arguments of a digest, which may not be null. */
function writeHashedColumns({ types }: Pick<Table<unknown>, 'types'>): string {
  return [...types]
    .map(([column, type]) => (type.startsWith('Nullable') ? `ifNull(${column}, '\\0')` : column))
    .join(', ');
}

/** Partition by partition, so that no statement takes long. */
async function countDays(
  database: Database,
  tables: Tables,
  kind: Kind,
  { fromSequence, throughSequence, installationId }: ComparedRange,
): Promise<(readonly [string, number, number, bigint])[]> {
  const { nameOf, definition } = sources[kind];
  const { timeColumn, partitionExpression } = definition;
  const table = nameOf(tables);
  const only = installationId === null ? '' : ` AND installation_id = ${sqlString(installationId)}`;
  const days: (readonly [string, number, number, bigint])[] = [];
  for (const partition of await listPartitions(database, table)) {
    const rows = await database.select(
      `SELECT installation_id, intDiv(${timeColumn} - ${noonMs}, ${dayMs}) AS day, count(), toString(sum(cityHash64(${writeHashedColumns(definition)})))
       FROM ${table} FINAL WHERE ${partitionExpression} = ${partition}
       AND position >= ${fromSequence} AND position <= ${throughSequence}${only} GROUP BY installation_id, day`,
    );
    for (const [installation, day, number, digest] of rows)
      days.push([installation as string, Number(day), Number(number), BigInt(digest as string)]);
  }
  return days;
}
