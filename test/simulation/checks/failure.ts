/** A failed check. The seed repeats it. */
export class SimulationFailure extends Error {
  override readonly name = 'SimulationFailure';
  readonly check: string;

  constructor(check: string, detail: string) {
    super(`${check}: ${detail}`);
    this.check = check;
  }
}

/** Describes the first difference of two lists; null if they are equal. */
export function findDifference(expected: readonly unknown[], found: readonly unknown[]): string | null {
  const [one, other] = [expected.map(formatItem), found.map(formatItem)];
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    if (one[at] !== other[at])
      return `number ${at} of ${one.length}: expected ${one[at] ?? 'nothing more'}, found ${other[at] ?? 'nothing more'} (of ${other.length})`;
  }
  return null;
}

function formatItem(item: unknown): string {
  return JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}
