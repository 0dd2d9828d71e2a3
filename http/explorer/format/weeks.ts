import { classifyDays, type Day } from '../charts/observed.ts';
import { dayMs, roundMs } from '../rounds.ts';
import { formatDay } from './times.ts';

const roundsPerDay = dayMs / roundMs;

export interface Week {
  /** Work of what was observed; null if nothing was. */
  readonly workUnits: string | null;
  readonly span: string;
  /** Share of its rounds that were observed, in basis points, rounded down. */
  readonly coverageBps: number;
  /** Number of days without any observation, after the first reading. */
  readonly missingDayCount: number;
  /** Number of days before the first reading. */
  readonly beforeDayCount: number;
}

/**
 * Adds up the seven days before today and the seven before those.
 *
 * @param days 15 or more consecutive days, ending today.
 * @returns `changeBps` is null if a whole day of either week was not observed, or the earlier one had no work.
 */
export function compareWeeks(days: readonly Day[], firstObservedMs: number) {
  const classified = classifyDays(days, firstObservedMs);
  const last = addUp(classified.slice(-8, -1));
  const before = addUp(classified.slice(-15, -8));
  const work = BigInt(before.workUnits ?? 0);
  const isComparable =
    work > 0n && [last, before].every((week) => week.missingDayCount + week.beforeDayCount === 0);
  const changeBps = isComparable ? Number(((BigInt(last.workUnits ?? 0) - work) * 10_000n) / work) : null;
  return { last, before, changeBps };
}

function addUp(days: ReturnType<typeof classifyDays<Day>>): Week {
  const observed = days.filter(({ coverage }) => coverage.observedRoundCount > 0);
  const workUnits = observed.reduce((sum, day) => sum + BigInt(day.observedWorkUnits), 0n);
  const beforeDayCount = days.filter(({ state }) => state === 'before').length;
  const expected = (days.length - beforeDayCount) * roundsPerDay;
  const rounds = observed.reduce((sum, { coverage }) => sum + coverage.observedRoundCount, 0);
  return {
    workUnits: observed.length === 0 ? null : String(workUnits),
    span: `${formatDay(days[0]?.date ?? '')} to ${formatDay(days.at(-1)?.date ?? '')}`,
    coverageBps: expected === 0 ? 0 : Math.floor((rounds * 10_000) / expected),
    missingDayCount: days.length - beforeDayCount - observed.length,
    beforeDayCount,
  };
}
