import { isSameLineage, type LineageRuns } from '../runs/lineages.ts';

/** Results of reads that do not change while the same history counts. If there are more than `max`, the least recently used one is forgotten. */
export function createKeptReads<Result>(max: number) {
  const kept = new Map<string, Result>();
  let keptOf: LineageRuns = [];

  function use(key: string, result: Result): Result {
    kept.delete(key);
    kept.set(key, result);
    return result;
  }

  return {
    find: (runs: LineageRuns, key: string): Result | undefined => {
      if (!isSameLineage(runs, keptOf)) kept.clear();
      keptOf = runs;
      const found = kept.get(key);
      return found === undefined ? undefined : use(key, found);
    },
    /** Returns the result, and keeps it unless another history counts by now. */
    add: (runs: LineageRuns, key: string, result: Result): Result => {
      if (!isSameLineage(runs, keptOf)) return result;
      use(key, result);
      const [oldest] = kept.keys();
      if (kept.size > max && oldest !== undefined) kept.delete(oldest);
      return result;
    },
  };
}
