import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';

/** Source of a state: a stream, or the installations of the counter stream that a replay of one installation leaves alone. */
export type FoldedSource = InputStreamName | 'MINER_COUNTER beside';
export const foldedSources: readonly FoldedSource[] = [...inputStreamNames, 'MINER_COUNTER beside'];

/** Identifies a snapshot by the position in its stream and by its fold. */
export interface SnapshotHeader extends FoldIdentity {
  readonly stream: FoldedSource;
  readonly streamCreated: string;
  readonly position: number;
  /** Digest of that message, as in the fold's stream position; null if unknown. */
  readonly digest: string | null;
  /** Epoch milliseconds. Never decides which snapshot is newer, since clocks can be changed. */
  readonly takenAtMs: number;
}

/** A restorable state: a snapshot with its increments through some part. */
export interface StoredSnapshotHeader extends SnapshotHeader {
  readonly snapshot: string;
  /** 0 is the whole state; each later part holds the changes since the previous one. */
  readonly part: number;
  /** Number of the state in its stream, from 1. */
  readonly ordinal: number;
}

/** Name of a restorable state in logs. */
export function formatSnapshotName({ snapshot, part }: StoredSnapshotHeader): string {
  return part === 0 ? snapshot : `${snapshot}+${part}`;
}
