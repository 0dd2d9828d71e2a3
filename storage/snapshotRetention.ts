import { dayMs } from '../actors/schemas/durations.ts';
import type { IsCounted } from './mergedRuns.ts';
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
/** Runs that do not count, such as the one of a replay under way, whose newest snapshot is retained. */
const otherRunsRetained = 2;

/** Upper bound of retained snapshots of one stream. The first 1 is for the snapshot just saved, which may lie below others. */
export const snapshotsRetainedMax =
  1 +
  newestRetained +
  retainedPeriods.reduce((sum, { count }) => sum + count, 0) +
  otherFoldsRetained +
  otherRunsRetained;

/** The snapshots of one stream that stay once `saved` is stored. */
export function selectRetained(
  saved: StoredSnapshotHeader,
  others: readonly StoredSnapshotHeader[],
  isCounted: IsCounted,
): StoredSnapshotHeader[] {
  const fold = formatFold(saved);
  const newestFirst = [saved, ...others].sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  const ofFold = newestFirst.filter((one) => formatFold(one) === fold);
  const isSame = (one: StoredSnapshotHeader) => one === saved || isCounted(one);
  const same = ofFold.filter(isSame);
  const retained = new Set([saved, ...same.slice(0, newestRetained)]);
  for (const { periodMs, count } of retainedPeriods)
    for (const one of selectFirst(same, ({ takenAtMs }) => Math.floor(takenAtMs / periodMs)).slice(0, count))
      retained.add(one);
  const selectOthers = (others: StoredSnapshotHeader[], groupOf: (one: StoredSnapshotHeader) => string) =>
    selectFirst(others, groupOf).sort((a, b) => b.takenAtMs - a.takenAtMs);
  const otherRuns = selectOthers(
    ofFold.filter((one) => !isSame(one)),
    ({ run }) => run,
  );
  const otherFolds = selectOthers(
    newestFirst.filter((one) => formatFold(one) !== fold),
    formatFold,
  );
  return [...retained, ...otherRuns.slice(0, otherRunsRetained), ...otherFolds.slice(0, otherFoldsRetained)];
}

/** Identifies snapshots of the same fold and stream. */
function formatFold({ foldVersion, configuration, streamCreated }: StoredSnapshotHeader): string {
  return `${foldVersion} ${configuration} ${streamCreated}`;
}

/** The first item of each group. */
function selectFirst<Item>(items: readonly Item[], groupOf: (item: Item) => unknown): Item[] {
  const firsts = new Map<unknown, Item>();
  for (const item of items) if (!firsts.has(groupOf(item))) firsts.set(groupOf(item), item);
  return [...firsts.values()];
}
