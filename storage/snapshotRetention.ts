import type { StoredSnapshotHeader } from './tables/foldSnapshot.ts';

const newestRetained = 3;
/**
 * Start of each band of ages. An age is the number of snapshots taken since, one a minute: about 1, 4 and 16 minutes, 1, 4 and 17 hours, 3 and 11
 * days. Counting makes wrong clocks harmless. Each band retains its newest and oldest snapshot. The oldest grows into the next band, and the newest
 * takes its place, so no band is ever empty. Beyond the start of a band, the next snapshot is at most the length of the previous band older.
 */
const bandsFrom = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384];
/** Other folds (versions or deployments) whose newest snapshot is retained, so that one can go back to them. */
const otherFoldsRetained = 2;

/** Upper bound of retained states of one stream. The first 1 is for the state just saved, which may lie below others. */
export const snapshotsRetainedMax = 1 + newestRetained + bandsFrom.length * 2 - 1 + otherFoldsRetained;

/** The states of one stream that stay restorable once `saved` is stored, together with the parts that they need. */
export function selectRetained(
  saved: StoredSnapshotHeader,
  others: readonly StoredSnapshotHeader[],
): StoredSnapshotHeader[] {
  const lineage = formatLineage(saved);
  const same = others.filter((one) => formatLineage(one) === lineage);
  const newestByLineage = new Map<string, StoredSnapshotHeader>();
  for (const one of others.toSorted(byOrdinal)) {
    const other = formatLineage(one);
    if (other !== lineage && !newestByLineage.has(other)) newestByLineage.set(other, one);
  }
  const newestOfOthers = [...newestByLineage.values()].slice(0, otherFoldsRetained);
  return [...new Set([saved, ...selectByAge([saved, ...same]), ...newestOfOthers])];
}

/** Identifies snapshots of the same fold and stream. */
function formatLineage({ foldVersion, configuration, streamCreated }: StoredSnapshotHeader): string {
  return `${foldVersion} ${configuration} ${streamCreated}`;
}

function byOrdinal(a: StoredSnapshotHeader, b: StoredSnapshotHeader): number {
  return b.ordinal - a.ordinal;
}

function selectByAge(headers: readonly StoredSnapshotHeader[]): StoredSnapshotHeader[] {
  const newestFirst = headers.toSorted(byOrdinal);
  const retained = new Set(newestFirst.slice(0, newestRetained));
  const [newest] = newestFirst;
  if (newest === undefined) return [];
  const bands = new Map<number, StoredSnapshotHeader[]>();
  for (const header of newestFirst) {
    const age = newest.ordinal - header.ordinal;
    const band = bandsFrom.findLastIndex((from) => age >= from);
    bands.set(band, [...(bands.get(band) ?? []), header]);
  }
  for (const [band, members] of bands) {
    retained.add(members[0] as StoredSnapshotHeader);
    // The last band has no successor to grow into.
    if (band < bandsFrom.length - 1) retained.add(members.at(-1) as StoredSnapshotHeader);
  }
  return [...retained];
}
