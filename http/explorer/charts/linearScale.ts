import { nice, ticks } from 'd3-array';

/** Values to places on an axis. Of `d3-scale`, which does the same, a third of the page's program would be colours and dates. */
interface LinearScale {
  (value: number): number;
  /** Round values within the domain. */
  readonly ticks: readonly number[];
}

/**
 * @param domain least and largest value, which differ; widened to round values.
 * @param range their places.
 */
export function createLinearScale(
  domain: readonly [number, number],
  range: readonly [number, number],
  tickCount: number,
): LinearScale {
  const [least, largest] = nice(...domain, tickCount);
  const [from, to] = range;
  const place = (value: number) => from + ((value - least) / (largest - least)) * (to - from);
  return Object.assign(place, { ticks: ticks(least, largest, tickCount) });
}
