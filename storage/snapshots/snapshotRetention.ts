import { dayMs } from '../../actors/schemas/durations.ts';
import type { IsCounted } from '../runs/mergedRuns.ts';
import type { StoredSnapshotHeader } from '../tables/foldSnapshot.ts';

const newestRetained = 3;
/**
 * The newest snapshot of each of the newest `count` periods that have one is retained. Of three periods of ten minutes, the first ended at
 * least ten minutes ago. Positions say which snapshot is newer, and times only which ones share a period, so a wrong clock removes few.
 */
const retainedPeriods = [
  { periodMs: 600_000, count: 3 },
  { periodMs: 3_600_000, count: 24 },
  { periodMs: dayMs, count: 20 },
] as const;
/** Upper bound of retained snapshots of one lineage. The first 1 is for the snapshot just saved, which may lie below others. */
export const snapshotsRetainedMax =
  1 + newestRetained + retainedPeriods.reduce((sum, { count }) => sum + count, 0);

/**
 * The snapshots of one stream that stay once `saved` is stored: by age if they belong to its lineage, and the newest one of every other lineage.
 *
 * @param isCounted whether a snapshot counts in the lineage of `saved`.
 * @param lineages the same for each lineage that a process may continue.
 */
export function selectRetained(
  saved: StoredSnapshotHeader,
  others: readonly StoredSnapshotHeader[],
  isCounted: IsCounted,
  lineages: readonly IsCounted[],
): StoredSnapshotHeader[] {
  const newestFirst = [saved, ...others].sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  const same = newestFirst.filter(isCounted);
  const retained = new Set([saved, ...same.slice(0, newestRetained)]);
  for (const { periodMs, count } of retainedPeriods)
    for (const one of selectFirst(same, ({ takenAtMs }) => Math.floor(takenAtMs / periodMs)).slice(0, count))
      retained.add(one);
  for (const isOfLineage of lineages) {
    const newest = newestFirst.find(isOfLineage);
    if (newest !== undefined) retained.add(newest);
  }
  return [...retained];
}

/** The first item of each group. */
function selectFirst<Item>(items: readonly Item[], groupOf: (item: Item) => unknown): Item[] {
  const firsts = new Map<unknown, Item>();
  for (const item of items) if (!firsts.has(groupOf(item))) firsts.set(groupOf(item), item);
  return [...firsts.values()];
}
