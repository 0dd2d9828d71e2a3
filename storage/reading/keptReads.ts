import { isSameHistory, type VisibleRuns } from '../runs/lineages.ts';

/**
 * Keeps the results of reads that do not change while the same history counts. Once there are `max`, the one that was not used for longest is forgotten.
 */
export function createKeptReads<Result>(max: number) {
  const kept = new Map<string, Result>();
  let keptOf: VisibleRuns = [];
  return async (runs: VisibleRuns, key: string, read: () => Promise<Result>): Promise<Result> => {
    if (!isSameHistory(runs, keptOf)) kept.clear();
    keptOf = runs;
    const known = kept.get(key);
    const result = known ?? (await read());
    if (!isSameHistory(runs, keptOf)) return result;
    kept.delete(key);
    kept.set(key, result);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
    return result;
  };
}
