import { nice, ticks } from 'd3-array';

/** Maps values to positions on an axis. `d3-scale` does the same, but its colours and dates would be a third of the script. */
interface LinearScale {
  (value: number): number;
  /** Round values within the domain. */
  readonly ticks: readonly number[];
}

/**
 * @param domain smallest and largest value, which must differ; widened to round values.
 * @param range positions of these values.
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
