import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';

/** What a state is of: a stream's folds, or of the counter stream the installations that a replay of one leaves alone. */
export type FoldedSource = InputStreamName | 'MINER_COUNTER beside';
export const foldedSources: readonly FoldedSource[] = [...inputStreamNames, 'MINER_COUNTER beside'];

/** What a snapshot is of: the position in its stream, and the fold that made it. */
export interface SnapshotHeader extends FoldIdentity {
  readonly stream: FoldedSource;
  readonly streamCreated: string;
  /** Last folded sequence. */
  readonly position: number;
  /** Digest of that message, empty when the stream did not hold it any more; null where it is unknown. */
  readonly digest: string | null;
  /** Epoch milliseconds; never decides which is newer, since a clock can be put right. */
  readonly takenAtMs: number;
}

/** A state that can be restored: a snapshot, or one with its increments through some part. */
export interface StoredSnapshotHeader extends SnapshotHeader {
  /** Name of the snapshot. */
  readonly snapshot: string;
  /** 0 is the whole state; each next part says what changed since the one before. */
  readonly part: number;
  /** Its number among those of its stream, from 1. */
  readonly ordinal: number;
}

/** A restorable state as logs name it. */
export function formatSnapshotName({ snapshot, part }: StoredSnapshotHeader): string {
  return part === 0 ? snapshot : `${snapshot}+${part}`;
}
