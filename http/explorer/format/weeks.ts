import type { Bodies } from '../page.ts';
import { roundMs } from '../rounds.ts';
import { formatDay } from './times.ts';

const roundsPerDay = 86_400_000 / roundMs;

type Day = Bodies['statistics']['activity']['days'][number];

export interface Week {
  /** Work of what was observed; null if nothing was. */
  readonly workUnits: string | null;
  readonly span: string;
  /** Share of its rounds that were observed, in basis points, rounded down. */
  readonly coverageBps: number;
  /** Number of days without any observation. */
  readonly missingDayCount: number;
}

/**
 * Adds up the seven days before today and the seven before those.
 *
 * @param days 15 or more consecutive days, ending today.
 * @returns `changeBps` is null if a whole day of either week is missing, or the earlier one had no work.
 */
export function compareWeeks(days: readonly Day[]) {
  const last = addUp(days.slice(-8, -1));
  const before = addUp(days.slice(-15, -8));
  const work = BigInt(before.workUnits ?? 0);
  const isComparable = last.missingDayCount + before.missingDayCount === 0 && work > 0n;
  const changeBps = isComparable ? Number(((BigInt(last.workUnits ?? 0) - work) * 10_000n) / work) : null;
  return { last, before, changeBps };
}

function addUp(days: readonly Day[]): Week {
  const observed = days.filter(({ coverage }) => coverage.observedRoundCount > 0);
  const workUnits = observed.reduce((sum, day) => sum + BigInt(day.observedWorkUnits), 0n);
  const rounds = observed.reduce((sum, { coverage }) => sum + coverage.observedRoundCount, 0);
  return {
    workUnits: observed.length === 0 ? null : String(workUnits),
    span: `${formatDay(days[0]?.date ?? '')} to ${formatDay(days.at(-1)?.date ?? '')}`,
    coverageBps: Math.floor((rounds * 10_000) / (days.length * roundsPerDay)),
    missingDayCount: days.length - observed.length,
  };
}
