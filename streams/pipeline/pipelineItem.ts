import type { StateCapture } from '../../actors/foldRecord.ts';
import type { EncodedRows } from '../../storage/rowInserts.ts';
import type { StreamPosition } from '../jetstream/streamPosition.ts';
import type { Folded, SnapshotMark } from '../operators/snapshotMarks.ts';
import type { RejectedMessage } from './rejectedMessage.ts';

/** A batch that is folded, on its way through the places where its rows and rejections are stored. */
export interface FoldedBatch extends Folded {
  /** Null in a process that stores none. */
  readonly rows: EncodedRows | null;
  readonly rejections: readonly RejectedMessage[];
  place(): StreamPosition;
}

/** The state as of a place in the stream. */
export interface CapturedState {
  readonly place: StreamPosition;
  readonly state: StateCapture;
  /** How many were captured since the state was restored, with this one. */
  readonly number: number;
}

export type PipelineItem = FoldedBatch | SnapshotMark<CapturedState>;
