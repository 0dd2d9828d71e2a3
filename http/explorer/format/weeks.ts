import type { Bodies } from '../page.ts';
import { formatDay } from './times.ts';

type Day = Bodies['statistics']['activity']['days'][number];

export interface Week {
  /** Work of what was observed; null if nothing was. */
  readonly workUnits: string | null;
  readonly span: string;
  /** Number of days that were observed from beginning to end. */
  readonly wholeDayCount: number;
}

/**
 * Adds up the seven days before today and the seven before those.
 *
 * @param days 15 or more consecutive days, the last of which is today.
 * @returns `changeBps` is null unless all of both weeks was observed, and the earlier one had work.
 */
export function compareWeeks(days: readonly Day[]) {
  const last = addUp(days.slice(-8, -1));
  const before = addUp(days.slice(-15, -8));
  const work = BigInt(before.workUnits ?? 0);
  const isComparable = last.wholeDayCount + before.wholeDayCount === 14 && work > 0n;
  const changeBps = isComparable ? Number(((BigInt(last.workUnits ?? 0) - work) * 10_000n) / work) : null;
  return { last, before, changeBps };
}

function addUp(days: readonly Day[]): Week {
  const observed = days.filter(({ coverage }) => coverage.observedRoundCount > 0);
  const sum = observed.reduce((work, { observedWorkUnits }) => work + BigInt(observedWorkUnits), 0n);
  return {
    workUnits: observed.length === 0 ? null : String(sum),
    span: `${formatDay(days[0]?.date ?? '')} to ${formatDay(days.at(-1)?.date ?? '')}`,
    wholeDayCount: observed.filter(({ coverage }) => coverage.coverageBps === 10_000).length,
  };
}
