export const fullBps = 10_000n;

/** The earliest entry with the largest amount; null if that amount is zero. */
export function findLargest<Entry>(
  entries: readonly Entry[],
  selectAmount: (entry: Entry) => bigint,
): Entry | null {
  const index = findIndexOfLargest(entries, selectAmount);
  return index === null ? null : (entries[index] as Entry);
}

export function findIndexOfLargest<Entry>(
  entries: readonly Entry[],
  selectAmount: (entry: Entry) => bigint,
): number | null {
  let best: number | null = null;
  let amount = 0n;
  for (const [index, entry] of entries.entries()) {
    if (selectAmount(entry) <= amount) continue;
    amount = selectAmount(entry);
    best = index;
  }
  return best;
}

export function sortAscending(values: readonly bigint[]): bigint[] {
  return values.toSorted((a, b) => (a < b ? -1 : 1));
}

/** The middle value, or the floored mean of the middle two; null for an empty list. */
export function computeMedian(values: readonly bigint[]): bigint | null {
  const sorted = sortAscending(values);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as bigint) + upper) / 2n;
}

/** The 90th percentile of ascending values by nearest rank; null for an empty list. */
export function findP90(ascending: readonly bigint[]): bigint | null {
  return ascending[Math.ceil(ascending.length * 0.9) - 1] ?? null;
}

/** The floored ratio in basis points; zero if `whole` is zero. */
export function computeBps(part: number, whole: number): number {
  return whole === 0 ? 0 : Number((BigInt(part) * fullBps) / BigInt(whole));
}

export function sum<Entry>(entries: readonly Entry[], selectCount: (entry: Entry) => number): number {
  return entries.reduce((total, entry) => total + selectCount(entry), 0);
}
