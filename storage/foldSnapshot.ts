import type { StateIdentity } from '../actors/foldIdentity.ts';
import { type FoldRecord, parseRecord } from '../actors/foldRecord.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';

/** What a state is of: a stream's folds, or of the counter stream the installations that a replay of one leaves alone. */
export type FoldedSource = InputStreamName | 'MINER_COUNTER beside';
export const foldedSources: readonly FoldedSource[] = [
  'MINER_COUNTER',
  'MINER_PIPELINE',
  'MINER_CHAIN',
  'MINER_COUNTER beside',
];

/** What a snapshot is of: the checkpoint of its stream, and the fold that made it. */
export interface SnapshotHeader extends StateIdentity {
  readonly stream: FoldedSource;
  readonly streamCreated: string;
  /** Last folded sequence. */
  readonly position: number;
  /** Digest of that message; null when the stream did not hold it any more. */
  readonly digest: string | null;
  /** Epoch milliseconds; never tells which is newer, since a clock can be put right. */
  readonly takenAtMs: number;
}

/** A snapshot as it is stored. */
export interface StoredSnapshotHeader extends SnapshotHeader {
  /** Its number among those of its stream, from 1. */
  readonly ordinal: number;
  readonly format: SnapshotFormat;
}

/** How a state is written down: as records; or, with an empty name, as lines whose form was that of its stream. */
export const snapshotFormats = ['records', ''] as const;
export type SnapshotFormat = (typeof snapshotFormats)[number];

/** The state of the folds of one stream. */
export interface FoldSnapshot extends SnapshotHeader {
  readonly format: SnapshotFormat;
  /** Lines of text. */
  readonly state: string;
}

/** The records of a snapshot; `convertLines` makes them of one in the format before records. */
export function readSnapshot(
  { format, state }: FoldSnapshot,
  convertLines: (lines: Iterable<string>) => Iterable<FoldRecord>,
): Iterable<FoldRecord> {
  const lines = state.split('\n').filter((line) => line !== '');
  return format === 'records' ? lines.map(parseRecord) : convertLines(lines);
}
