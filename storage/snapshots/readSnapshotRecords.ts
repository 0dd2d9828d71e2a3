import { type FoldRecord, parseRecord, RecordRefused, refuseOnError } from '../../actors/folds/foldRecord.ts';
import { RecordsDamaged } from '../../actors/pages/olderRows.ts';
import type { StoredSnapshotHeader } from '../tables/foldSnapshot.ts';
import type { SnapshotStore } from './snapshots.ts';
import { SnapshotDamaged } from './snapshotText.ts';

/**
 * The records of a snapshot.
 *
 * @throws SnapshotDamaged when the stored text differs from the saved one.
 * @throws RecordRefused when a line is not a record.
 */
export async function* readSnapshotRecords(
  snapshots: Pick<SnapshotStore, 'read'>,
  header: StoredSnapshotHeader,
): AsyncIterable<readonly FoldRecord[]> {
  for await (const lines of snapshots.read(header)) yield refuseOnError(() => lines.map(parseRecord));
}

/** Whether an error means that a snapshot is unusable, so an older one must be restored. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof SnapshotDamaged || error instanceof RecordRefused || error instanceof RecordsDamaged
  );
}
