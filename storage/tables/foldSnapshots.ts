import { integer, oneOf, string, stringOrEmpty } from './column.ts';
import { foldedSources, type StoredSnapshotHeader } from './foldSnapshot.ts';
import { defineTable } from './table.ts';

interface SnapshotChunkRow extends StoredSnapshotHeader {
  readonly part: number;
  readonly ordinal: number;
  readonly chunkCount: number;
  /** From 0. */
  readonly chunk: number;
  /** Piece of the state's text, compressed with Brotli, in base64. */
  readonly payload: string;
}

/** Snapshots of folds. Each snapshot is a partition. Each generation has its own table. */
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
