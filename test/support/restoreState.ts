import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { FoldRestoration, StreamFold } from '../../streams/pipeline/streamFold.ts';

/** Actors or the fold of a stream. */
interface Restorable {
  beginRestore(): Pick<FoldRestoration, 'add' | 'complete'>;
}

/** Replaces the state by the records' state. */
export function restoreState(into: Restorable, records: Iterable<FoldRecord>, position = 0): void {
  const restoration = into.beginRestore();
  for (const record of records) restoration.add(record);
  restoration.complete()({ streamCreatedMs: 0, position, storedAtMs: 0 });
}

/** Whether a fold can continue from the state of the records. */
export function acceptsState(fold: StreamFold, records: Iterable<FoldRecord>): boolean {
  const restoration = fold.beginRestore();
  for (const record of records) restoration.add(record);
  return restoration.accepts?.() ?? true;
}
