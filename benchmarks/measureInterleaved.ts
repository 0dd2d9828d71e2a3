/** A compared subject: each call makes one measurement. */
export interface Contender {
  readonly name: string;
  measure(): Promise<number | Measurement>;
}

export interface Measurement {
  readonly value: number;
  /** Further figures by name, with the unit in the name. */
  readonly others: Readonly<Record<string, number>>;
}

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly others?: Readonly<Record<string, readonly number[]>>;
}

/**
 * Measures contenders in turns, A B B A, so that a slow phase of the machine slows all of them, and none always follows the same one. The first round
 * warms up and does not count; `areWarm` skips it.
 */
export async function measureInterleaved(
  contenders: readonly Contender[],
  rounds: number,
  { areWarm = false }: { readonly areWarm?: boolean } = {},
): Promise<Series[]> {
  const series = contenders.map(({ name }) => ({
    name,
    values: [] as number[],
    others: {} as Record<string, number[]>,
  }));
  for (let round = areWarm ? 1 : 0; round <= rounds; round++) {
    const inOrder = [...contenders.entries()];
    for (const [index, contender] of round % 2 === 0 ? inOrder : inOrder.reverse()) {
      const measured = await contender.measure();
      const { value, others } = typeof measured === 'number' ? { value: measured, others: {} } : measured;
      const { values, others: further } = series[index] as (typeof series)[number];
      if (round > 0) {
        values.push(value);
        for (const [name, figure] of Object.entries(others)) {
          further[name] ??= [];
          further[name].push(figure);
        }
      }
      const about = round === 0 ? 'warming up' : `round ${round} of ${rounds}`;
      process.stderr.write(`${about}: ${contender.name}: ${roundForTable(value)}\n`);
    }
  }
  return series;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** Rounds to three significant digits; larger numbers to whole ones. */
export function roundForTable(value: number): string {
  return Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)));
}
