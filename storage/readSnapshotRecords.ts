import { type FoldRecord, parseRecord, RecordRefused, refuseOnError } from '../actors/foldRecord.ts';
import type { StoredSnapshotHeader } from './foldSnapshot.ts';
import type { SnapshotStore } from './snapshots.ts';
import { SnapshotDamaged } from './snapshotText.ts';
import { StorageDamaged } from './storageUnavailable.ts';

/**
 * The records of a state, those of its increments behind them; `convertLines` makes them of lines in the format before records.
 *
 * @throws SnapshotDamaged
 * @throws RecordRefused
 */
export async function* readSnapshotRecords(
  snapshots: Pick<SnapshotStore, 'read'>,
  header: StoredSnapshotHeader,
  convertLines: (lines: Iterable<string>) => Iterable<FoldRecord>,
): AsyncIterable<readonly FoldRecord[]> {
  const earlier: string[] = [];
  for await (const lines of snapshots.read(header)) {
    if (header.format === 'records') yield refuseOnError(() => lines.map(parseRecord));
    else for (const line of lines) if (line !== '') earlier.push(line);
  }
  if (earlier.length > 0) yield refuseOnError(() => [...convertLines(earlier)]);
}

/** Whether an error says that a snapshot is of no use, so that an older one has to be restored. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof SnapshotDamaged || error instanceof RecordRefused || error instanceof StorageDamaged
  );
}
