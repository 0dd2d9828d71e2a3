import type { InputStreamName } from '../streams/subjects.ts';

/** What a snapshot is of: the checkpoint of its stream, and the version of the fold that made it. */
export interface SnapshotHeader {
  readonly stream: InputStreamName;
  readonly foldVersion: number;
  readonly streamCreated: string;
  /** Last folded sequence. */
  readonly position: number;
  /** Digest of that message. */
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly takenAtMs: number;
}

/** The state of the folds of one stream. */
export interface FoldSnapshot extends SnapshotHeader {
  /** Lines of JSON. */
  readonly state: string;
}
