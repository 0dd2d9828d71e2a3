import { foldedSources, type StoredSnapshotHeader, snapshotFormats } from '../foldSnapshot.ts';
import { integer, oneOf, string, stringOrEmpty } from './column.ts';
import { defineTable } from './table.ts';

/** A chunk of a snapshot, with what the snapshot is of. */
export interface SnapshotChunkRow extends StoredSnapshotHeader {
  /** Name of the snapshot. */
  readonly snapshot: string;
  /** From 0. */
  readonly chunk: number;
  readonly chunkCount: number;
  /** SHA-256 of the whole payload. */
  readonly checksum: string;
  /** State of the folds, gzipped, in base64. */
  readonly payload: string;
}

/** Snapshots of folds, each a partition of its own; each generation has a table of them. */
export const foldSnapshots = defineTable<SnapshotChunkRow>({
  name: 'fold_snapshots',
  columns: {
    snapshot: string,
    chunk: integer,
    chunkCount: integer,
    stream: oneOf(foldedSources),
    foldVersion: integer,
    configuration: string,
    streamCreated: string,
    position: integer,
    digest: stringOrEmpty,
    takenAtMs: integer,
    ordinal: integer,
    format: oneOf(snapshotFormats),
    checksum: string,
    payload: string,
  },
  engine: 'MergeTree()',
  partitionBy: { value: 'snapshot' },
  orderBy: ['snapshot', 'chunk'],
});
