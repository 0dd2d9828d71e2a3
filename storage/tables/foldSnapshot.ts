import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';

/** Identifies a snapshot by the position in its stream and by its fold. */
export interface SnapshotHeader extends FoldIdentity {
  readonly stream: InputStreamName;
  /** The run that holds the rows of the state. */
  readonly run: string;
  readonly streamCreated: string;
  readonly position: number;
  /** Digest of that message, as in the fold's stream position; null if unknown. */
  readonly digest: string | null;
  /** Epoch milliseconds. Never decides which snapshot is newer, since clocks can be changed. */
  readonly takenAtMs: number;
}

export interface StoredSnapshotHeader extends SnapshotHeader {
  /** Its name. */
  readonly snapshot: string;
  /** SHA-256 of its payloads. */
  readonly checksum: string;
}
