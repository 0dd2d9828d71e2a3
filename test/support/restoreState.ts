import assert from 'node:assert/strict';
import type { FoldRecord, StateCapture } from '../../actors/foldRecord.ts';
import type { FoldRestoration, StreamFold } from '../../streams/pipeline/streamFold.ts';

/** Actors or the fold of a stream. */
interface Restorable {
  capture(): StateCapture;
  beginRestore(): Pick<FoldRestoration, 'add' | 'complete'>;
}

/** Replaces the state by the records' state, after which changes since an earlier capture are unknown. */
export function restoreState(into: Restorable, records: Iterable<FoldRecord>, position = 0): void {
  const restoration = into.beginRestore();
  // Captured lazily, from what it is about to replace.
  for (const record of [...records]) restoration.add(record);
  into.capture();
  restoration.complete()(position);
  assert.equal(into.capture().changes, null);
}

/** Whether a fold can continue from the state of the records. */
export function acceptsState(fold: StreamFold, records: Iterable<FoldRecord>): boolean {
  const restoration = fold.beginRestore();
  for (const record of records) restoration.add(record);
  return restoration.accepts?.() ?? true;
}
