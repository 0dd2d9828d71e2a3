import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { RejectionReason } from '../../actors/messages/rejectionReasons.ts';
import type { EncodedRows } from '../../storage/rows/rowInserts.ts';
import type { StreamPosition } from '../jetstream/proofs/streamPosition.ts';
import type { Folded, SnapshotMark } from '../operators/snapshotMarks.ts';

/** A message that a fold has rejected, on its way to `MINER_REJECTED`. */
export interface RejectedMessage {
  readonly streamCreated: string;
  readonly sequence: number;
  /** When the server stored it, nanoseconds since the epoch. */
  readonly storedAtNanos: bigint;
  readonly subject: string;
  /** Its `Nats-Msg-Id`; null without one. */
  readonly messageId: string | null;
  readonly data: Uint8Array;
  readonly reason: RejectionReason;
  readonly detail: string;
}

/** A folded batch on its way through the operators that store its rows and rejections. */
export interface FoldedBatch extends Folded {
  /** Null in a process that stores no rows. */
  readonly rows: EncodedRows | null;
  readonly rejections: readonly RejectedMessage[];
  streamPosition(): StreamPosition;
}

export interface CapturedState {
  readonly streamPosition: StreamPosition;
  readonly records: Iterable<FoldRecord>;
}

export type PipelineItem = FoldedBatch | SnapshotMark<CapturedState>;
