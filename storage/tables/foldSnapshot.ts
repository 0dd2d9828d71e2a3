import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';

/** Source of a state: a stream, or the installations of the counter stream that a replay of one installation leaves alone. */
export type FoldedSource = InputStreamName | 'MINER_COUNTER beside';
export const foldedSources: readonly FoldedSource[] = [...inputStreamNames, 'MINER_COUNTER beside'];

/** Identifies a snapshot by the position in its stream and by its fold. */
export interface SnapshotHeader extends FoldIdentity {
  readonly stream: FoldedSource;
  /** The run that holds the rows of the state; empty for a stream without lineages. */
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
