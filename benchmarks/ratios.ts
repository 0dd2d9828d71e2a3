import { median, roundForTable } from './measureInterleaved.ts';

/**
 * One figure divided by another, for each turn: two measurements of one turn had the same machine, which may be twice as slow a minute later. So the median of
 * ratios says more than the ratio of medians.
 */
export function divideTurns(dividends: readonly number[], divisors: readonly number[]): number[] {
  return dividends.map((value, turn) => value / (divisors[turn] ?? Number.NaN));
}

/** The median, and between which two three quarters of them lie: an eighth at each end is left out. */
export function describeRatios(ratios: readonly number[]): string {
  const sorted = ratios.toSorted((a, b) => a - b);
  const leftOut = Math.floor(sorted.length / 8);
  const [lowest, highest] = [sorted[leftOut], sorted.at(-1 - leftOut)];
  return `${roundForTable(median(ratios))} (${roundForTable(lowest ?? Number.NaN)} – ${roundForTable(highest ?? Number.NaN)})`;
}
