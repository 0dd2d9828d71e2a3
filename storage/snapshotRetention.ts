import { dayMs } from '../actors/schemas/durations.ts';
import type { StoredSnapshotHeader } from './tables/foldSnapshot.ts';

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
/** Other folds (versions or deployments) whose newest snapshot is retained, so that one can go back to them. */
const otherFoldsRetained = 2;

/** Upper bound of retained snapshots of one stream. The first 1 is for the snapshot just saved, which may lie below others. */
export const snapshotsRetainedMax =
  1 + newestRetained + retainedPeriods.reduce((sum, { count }) => sum + count, 0) + otherFoldsRetained;

/** The snapshots of one stream that stay once `saved` is stored. */
export function selectRetained(
  saved: StoredSnapshotHeader,
  others: readonly StoredSnapshotHeader[],
): StoredSnapshotHeader[] {
  const lineage = formatLineage(saved);
  const newestFirst = [saved, ...others].sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  const same = newestFirst.filter((one) => formatLineage(one) === lineage);
  const ofOtherFolds = newestFirst.filter((one) => formatLineage(one) !== lineage);
  const retained = new Set([saved, ...same.slice(0, newestRetained)]);
  for (const { periodMs, count } of retainedPeriods)
    for (const one of selectFirst(same, ({ takenAtMs }) => Math.floor(takenAtMs / periodMs)).slice(0, count))
      retained.add(one);
  const newestOfOthers = selectFirst(ofOtherFolds, formatLineage).sort((a, b) => b.takenAtMs - a.takenAtMs);
  return [...retained, ...newestOfOthers.slice(0, otherFoldsRetained)];
}

/** Identifies snapshots of the same fold and stream. */
function formatLineage({ foldVersion, configuration, streamCreated }: StoredSnapshotHeader): string {
  return `${foldVersion} ${configuration} ${streamCreated}`;
}

/** The first item of each group. */
function selectFirst<Item>(items: readonly Item[], groupOf: (item: Item) => unknown): Item[] {
  const firsts = new Map<unknown, Item>();
  for (const item of items) if (!firsts.has(groupOf(item))) firsts.set(groupOf(item), item);
  return [...firsts.values()];
}
