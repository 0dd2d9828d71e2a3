import { type FoldRecord, parseRecord, RecordRefused, refuseOnError } from '../actors/foldRecord.ts';
import type { StoredSnapshotHeader } from './foldSnapshot.ts';
import type { SnapshotStore } from './snapshots.ts';
import { SnapshotDamaged } from './snapshotText.ts';
import { StorageDamaged } from './storageUnavailable.ts';

/**
 * The records of a state, then the records of its increments.
 *
 * @throws SnapshotDamaged
 * @throws RecordRefused
 */
export async function* readSnapshotRecords(
  snapshots: Pick<SnapshotStore, 'read'>,
  header: StoredSnapshotHeader,
): AsyncIterable<readonly FoldRecord[]> {
  for await (const lines of snapshots.read(header)) yield refuseOnError(() => lines.map(parseRecord));
}

/** Whether an error says that a snapshot is of no use, so that an older one has to be restored. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof SnapshotDamaged || error instanceof RecordRefused || error instanceof StorageDamaged
  );
}
