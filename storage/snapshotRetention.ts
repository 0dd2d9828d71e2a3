import type { StoredSnapshotHeader } from './tables/foldSnapshot.ts';

/** These many of the newest ones are retained. */
const newestRetained = 3;
/**
 * Ages at which a band begins, in snapshots that were taken since: one is taken a minute, so these are about 4 and 16 minutes, 1, 4 and 17 hours,
 * 3 and 11 days. A clock that is ahead for a while makes none of them older. Of each band the newest and the oldest are retained: the oldest one
 * grows into the next band, and the newest one takes its place then. So a band is never empty, and the youngest snapshot that is at least as old as
 * the beginning of a band is at most by the length of the band before it older than that.
 */
const bandsFrom = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384];
/** Of folds that came before (another version, another deployment), for going back to them. */
const otherFoldsRetained = 2;

/** Of more states than these no snapshot is ever retained of one stream: the one that was just saved may lie below others. */
export const snapshotsRetainedMax = 1 + newestRetained + bandsFrom.length * 2 - 1 + otherFoldsRetained;

/** The states of one stream that stay restorable once `saved` is stored; what they need of their snapshots stays with them. */
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

/** Snapshots that follow one another: of one fold and one stream. */
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
    // The last band has no next one to grow into.
    if (band < bandsFrom.length - 1) retained.add(members.at(-1) as StoredSnapshotHeader);
  }
  return [...retained];
}
