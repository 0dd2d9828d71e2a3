import { findDay } from '../../addresses/days.ts';
import type { Bodies, ReadBody } from '../page.ts';
import { corePath, statusPath } from '../resources.ts';
import { dayMs, findGenesisMs, halfHourMs, roundMs } from '../rounds.ts';
import { findTime, inDayOrder, noonMinute } from './halfHours.ts';

/** States of a half hour or a day. `running` has not ended, and `before` ended before the first reading. */
export type Observed = 'complete' | 'partial' | 'missing' | 'future' | 'running' | 'before';

type Statistics = Bodies['statistics'];
export type Day = Statistics['activity']['days'][number];

/** Tells apart half hours and days without observation. */
export interface Known {
  /** Time of the first reading, or of the genesis if that is later; infinite before the first reading. */
  readonly firstObservedMs: number;
  /** End of the statistics. */
  readonly generatedMs: number;
  /** Work so far of the half hour that is running; null if only its ended rounds are known. */
  readonly runningWork: string | null;
}

export interface HalfHour {
  readonly date: string;
  readonly startAt: string;
  readonly startMinuteUtc: number;
  readonly state: Observed;
  /** Null if unknown. */
  readonly workUnits: string | null;
  readonly observedRoundCount: number;
}

/** Time of the first reading; infinite before it. */
export function findFirstObservedMs({ lifetime: { firstObservedAt } }: Statistics): number {
  return firstObservedAt === null ? Number.POSITIVE_INFINITY : Date.parse(firstObservedAt);
}

/** Reads what the statistics do not say themselves. */
export function findKnown(statistics: Statistics, read: ReadBody): Known {
  const core = read('core', corePath);
  return {
    firstObservedMs: Math.max(findFirstObservedMs(statistics), findGenesisMs(core) ?? 0),
    generatedMs: Date.parse(statistics.generatedAt),
    runningWork: findRunningWork(statistics, read('status', statusPath), core),
  };
}

/**
 * Adds the open round to the ended rounds of the running half hour. The builder's open work begins after the last closed round. It can only
 * be added if that is the open round alone, or all of the half hour, and if it is of the same round as the statistics.
 */
function findRunningWork(
  statistics: Statistics,
  status: Bodies['status'] | null,
  core: Bodies['core'] | null,
): string | null {
  const generatedMs = Date.parse(statistics.generatedAt);
  const startMs = Math.floor(generatedMs / halfHourMs) * halfHourMs;
  const startMinuteUtc = (startMs % dayMs) / 60_000;
  const ended = statistics.activity.days
    .find(({ date }) => date === findDay(startMs))
    ?.buckets.find((bucket) => bucket.startMinuteUtc === startMinuteUtc);
  const endedWork = ended?.workUnits ?? null;
  if (status?.builder.status !== 'available' || status.measurement === null) return endedWork;
  if (core?.status !== 'available') return endedWork;
  const findRound = (atMs: number) => Math.floor(atMs / roundMs);
  const openRound = findRound(generatedMs);
  const isSameRound = [status.generatedAt, status.measurement.observedAt].every(
    (at) => findRound(Date.parse(at)) === openRound,
  );
  if (!isSameRound) return endedWork;
  const beforeFirst = findRound(Number(core.configuration.genesisTimestamp) * 1000) - 1;
  const closed = Number(status.oracle.latestClosure?.lastRound ?? 0);
  const settled = Number(status.builder.anchor.settledThroughRound);
  const closedThrough = beforeFirst + Math.max(Math.min(closed, openRound - beforeFirst - 1), settled);
  const { openRoundWorkUnits: openWork } = status.builder.queued;
  if (closedThrough === findRound(startMs) - 1) return openWork;
  return closedThrough === openRound - 1 ? String(BigInt(endedWork ?? '0') + BigInt(openWork)) : endedWork;
}

/** The half hours of a universal day, from noon to noon. */
export function listHalfHours({ date, buckets }: Day, known: Known): HalfHour[] {
  return inDayOrder(buckets).map(({ startMinuteUtc, coverage, workUnits, observedRoundCount }) => {
    const startAt = findTime(date, startMinuteUtc);
    const startMs = Date.parse(startAt);
    const isRunning = startMs <= known.generatedMs && known.generatedMs < startMs + halfHourMs;
    const isBefore = coverage === 'missing' && startMs + halfHourMs <= known.firstObservedMs;
    return {
      date,
      startAt,
      startMinuteUtc,
      state: isRunning ? 'running' : isBefore ? 'before' : coverage,
      workUnits: isRunning ? known.runningWork : workUnits,
      observedRoundCount,
    };
  });
}

type Totals = Pick<Day, 'date' | 'coverage'>;

/** Classifies days. The last day is running. */
export function classifyDays<One extends Totals>(
  days: readonly One[],
  firstObservedMs: number,
): (One & { readonly state: Observed })[] {
  return days.map((day, index) => ({
    ...day,
    state: classifyDay(day, index === days.length - 1, firstObservedMs),
  }));
}

function classifyDay({ date, coverage }: Totals, isLast: boolean, firstObservedMs: number): Observed {
  const isObserved = coverage.observedRoundCount > 0;
  const endMs = Date.parse(findTime(date, noonMinute)) + dayMs;
  if (!isObserved && endMs <= firstObservedMs) return 'before';
  if (isLast) return 'running';
  if (!isObserved) return 'missing';
  return coverage.coverageBps === 10_000 ? 'complete' : 'partial';
}
