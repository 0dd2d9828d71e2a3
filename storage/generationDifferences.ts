import { dayMs } from '../actors/schemas/durations.ts';
import type { Database } from './database.ts';
import { type DigestSum, isSameSum, sumDigests } from './digestSums.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import type { Tables } from './tables.ts';

const noonMs = dayMs / 2;

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

const kinds = ['readings', 'rounds', 'buckets'] as const;
type Kind = (typeof kinds)[number];

/** Days of a range whose rows differ between two generations, ascending. Rows are compared by digest. */
export async function compareDays(
  database: Database,
  generations: { readonly before: Tables; readonly after: Tables },
  range: ComparedRange,
): Promise<DayDifference[]> {
  const days = new Map<string, { readonly installationId: string; readonly startMs: number }>();
  const sumKinds = async (tables: Tables) => {
    const sums = {} as Record<Kind, ReadonlyMap<string, DigestSum>>;
    for (const kind of kinds) sums[kind] = await sumDays(database, tables, kind, range);
    for (const sum of Object.values(sums))
      for (const [key, { values }] of sum) {
        const [installationId, day] = values;
        days.set(key, { installationId: String(installationId), startMs: Number(day) * dayMs + noonMs });
      }
    return sums;
  };
  const before = await sumKinds(generations.before);
  const after = await sumKinds(generations.after);
  const countRows = (sums: typeof before, key: string): DayRows => {
    const count = (kind: Kind) => sums[kind].get(key)?.count ?? 0;
    return { readings: count('readings'), rounds: count('rounds'), buckets: count('buckets') };
  };
  const isSame = (key: string) =>
    kinds.every((kind) => isSameSum(before[kind].get(key), after[kind].get(key)));
  return [...days]
    .filter(([key]) => !isSame(key))
    .map(([key, about]) => ({ ...about, before: countRows(before, key), after: countRows(after, key) }))
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

/** Rows of one kind by installation and day, with their summed digests. */
function sumDays(
  database: Database,
  tables: Tables,
  kind: Kind,
  { fromSequence, throughSequence, installationId }: ComparedRange,
): Promise<ReadonlyMap<string, DigestSum>> {
  const { resolveName, definition } = sources[kind];
  const only = installationId === null ? '' : ' AND installation_id = {installation:String}';
  const day = `intDiv(toUnixTimestamp64Milli(${definition.timeColumn}) - ${noonMs}, ${dayMs})`;
  return sumDigests(
    database,
    {
      table: resolveName(tables),
      definition,
      condition: {
        sql: `position >= {from:UInt64} AND position <= {through:UInt64}${only}`,
        parameters: { from: fromSequence, through: throughSequence, installation: installationId ?? '' },
      },
    },
    { installation_id: 'installation_id', day },
  );
}
