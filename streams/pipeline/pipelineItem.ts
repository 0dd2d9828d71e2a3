import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { EncodedRows } from '../../storage/rows/rowInserts.ts';
import type { StreamPosition } from '../jetstream/proofs/streamPosition.ts';
import type { Folded, SnapshotMark } from '../operators/snapshotMarks.ts';
import type { RejectedMessage } from './rejectedMessage.ts';

/** A folded batch on its way through the operators that store its rows and rejections. */
export interface FoldedBatch extends Folded {
  /** Null in a process that stores no rows. */
  readonly rows: EncodedRows | null;
  readonly rejections: readonly RejectedMessage[];
  place(): StreamPosition;
}

export interface CapturedState {
  readonly place: StreamPosition;
  readonly records: Iterable<FoldRecord>;
}

export type PipelineItem = FoldedBatch | SnapshotMark<CapturedState>;
