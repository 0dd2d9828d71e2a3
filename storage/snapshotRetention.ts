import type { SnapshotHeader } from './foldSnapshot.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** These many of the newest ones are kept, whatever their age. */
const newestKept = 3;
/**
 * Ages at which a band begins. Of each band the newest and the oldest are kept: the oldest one grows into the next band, and
 * the newest one takes its place then. So a band is never empty, and the youngest snapshot that is at least as old as the beginning
 * of a band is at most by the length of the band before it older than that.
 */
const bandsFromMs = [0, 3 * minuteMs, 10 * minuteMs, hourMs, 6 * hourMs, dayMs, 7 * dayMs];
/** Of folds that came before (another version, another deployment), for going back to them. */
const otherFoldsKept = 2;

/** More are never kept of one stream: the one that was just saved may lie below others. */
export const snapshotsKeptMax = 1 + newestKept + bandsFromMs.length * 2 - 1 + otherFoldsKept;

/** Those of one stream that stay once `saved` is stored. */
export function selectRetained(saved: SnapshotHeader, others: readonly SnapshotHeader[]): SnapshotHeader[] {
  const lineage = lineageOf(saved);
  const same = others.filter((one) => lineageOf(one) === lineage);
  const byFold = new Map<string, SnapshotHeader>();
  for (const one of [...others].sort((a, b) => b.position - a.position)) {
    const other = lineageOf(one);
    if (other !== lineage && !byFold.has(other)) byFold.set(other, one);
  }
  const newestOfOthers = [...byFold.values()]
    .sort((a, b) => b.takenAtMs - a.takenAtMs)
    .slice(0, otherFoldsKept);
  return [...new Set([saved, ...selectByAge([saved, ...same]), ...newestOfOthers])];
}

/** Snapshots that follow one another: of one fold and one stream. */
function lineageOf({ foldVersion, configuration, streamCreated }: SnapshotHeader): string {
  return `${foldVersion} ${configuration} ${streamCreated}`;
}

function selectByAge(headers: readonly SnapshotHeader[]): SnapshotHeader[] {
  const newestFirst = headers.toSorted((a, b) => b.position - a.position);
  const kept = new Set(newestFirst.slice(0, newestKept));
  const bands = new Map<number, SnapshotHeader[]>();
  const [{ takenAtMs: newestMs } = { takenAtMs: 0 }] = newestFirst;
  // An older one cannot be younger: where the clock was ahead, it counts as taken with the one that followed it.
  let takenAtMs = newestMs;
  for (const header of newestFirst) {
    takenAtMs = Math.min(takenAtMs, header.takenAtMs);
    const band = bandsFromMs.findLastIndex((fromMs) => newestMs - takenAtMs >= fromMs);
    bands.set(band, [...(bands.get(band) ?? []), header]);
  }
  for (const [band, members] of bands) {
    kept.add(members[0] as SnapshotHeader);
    // The last band has no next one to grow into.
    if (band < bandsFromMs.length - 1) kept.add(members.at(-1) as SnapshotHeader);
  }
  return [...kept];
}
