import { integer, oneOf, string, stringOrEmpty } from './column.ts';
import { foldedSources, type StoredSnapshotHeader } from './foldSnapshot.ts';
import { defineTable } from './table.ts';

export interface SnapshotChunkRow extends StoredSnapshotHeader {
  /** From 0. */
  readonly chunk: number;
  /** Number of chunks of the part; 0 except in the last chunk. */
  readonly chunkCount: number;
  /** SHA-256 of the part's payload; empty except in the last chunk. */
  readonly checksum: string;
  /** Piece of the part's records, gzipped, in base64. */
  readonly payload: string;
}

/** Snapshots of folds. Each snapshot with its increments is a partition. Each generation has its own table. */
export const foldSnapshots = defineTable<SnapshotChunkRow>({
  name: 'fold_snapshots',
  columns: {
    snapshot: string,
    part: integer,
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
    checksum: string,
    payload: string,
  },
  engine: 'MergeTree()',
  partitionBy: { value: 'snapshot' },
  orderBy: ['snapshot', 'part', 'chunk'],
});
