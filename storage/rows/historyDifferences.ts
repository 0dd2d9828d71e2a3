import { dayMs, noonMs } from '../../actors/schemas/durations.ts';
import type { Database } from '../clickhouse/database.ts';
import { selectMessages, selectVisible, type VisibleRuns } from '../runs/lineages.ts';
import { measurementEvents } from '../tables/events.ts';
import { halfHourBuckets } from '../tables/halfHourBuckets.ts';
import { readings } from '../tables/readings.ts';
import { rounds } from '../tables/rounds.ts';
import { type DigestSum, isSameSum, sumDigests } from './digestSums.ts';

interface DayRows {
  readonly readings: number;
  readonly rounds: number;
  readonly buckets: number;
  /** Measurement events that memory has evicted. */
  readonly events: number;
}

/** A day whose rows differ between two histories in number or content. */
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
}

const kinds = ['readings', 'rounds', 'buckets', 'events'] as const;
type Kind = (typeof kinds)[number];

/** Days of a range whose rows differ between two histories, ascending. Rows are compared by digest. */
export async function compareDays(
  database: Database,
  histories: { readonly before: VisibleRuns; readonly after: VisibleRuns },
  range: ComparedRange,
): Promise<DayDifference[]> {
  const days = new Map<string, { readonly installationId: string; readonly startMs: number }>();
  const sumKinds = async (runs: VisibleRuns) => {
    const sums = {} as Record<Kind, ReadonlyMap<string, DigestSum>>;
    for (const kind of kinds) sums[kind] = await sumDays(database, runs, kind, range);
    for (const sum of Object.values(sums))
      for (const [key, { values }] of sum) {
        const [installationId, day] = values;
        days.set(key, { installationId: String(installationId), startMs: Number(day) * dayMs + noonMs });
      }
    return sums;
  };
  const before = await sumKinds(histories.before);
  const after = await sumKinds(histories.after);
  const countRows = (sums: typeof before, key: string): DayRows => {
    const count = (kind: Kind) => sums[kind].get(key)?.count ?? 0;
    return {
      readings: count('readings'),
      rounds: count('rounds'),
      buckets: count('buckets'),
      events: count('events'),
    };
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
  runs: VisibleRuns,
  { installationId, startMs }: Pick<DayDifference, 'installationId' | 'startMs'>,
): Promise<bigint | null> {
  const visible = selectVisible(runs);
  const rows = await database.select(
    `SELECT ${work.list} FROM ${rounds.name} FINAL WHERE ${visible.sql} AND installation_id = {installation:String}
     AND start >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
     AND start < fromUnixTimestamp64Milli({through:Int64}, 'UTC')`,
    { ...visible.parameters, installation: installationId, from: startMs, through: startMs + dayMs },
  );
  return rows
    .map(work.read)
    .reduce<bigint | null>(
      (sum, { workUnits }) => (sum === null || workUnits === null ? null : sum + workUnits),
      0n,
    );
}

const sources = { readings, rounds, buckets: halfHourBuckets, events: measurementEvents.events };

/** Rows of one kind by installation and day, with their summed digests. */
function sumDays(
  database: Database,
  runs: VisibleRuns,
  kind: Kind,
  { fromSequence, throughSequence }: ComparedRange,
): Promise<ReadonlyMap<string, DigestSum>> {
  const definition = sources[kind];
  const condition = selectMessages(runs, { after: fromSequence - 1, through: throughSequence });
  const day = `intDiv(toUnixTimestamp64Milli(${definition.timeColumn}) - ${noonMs}, ${dayMs})`;
  return sumDigests(database, { definition, condition }, ['installation_id', day]);
}
