import { foldedSources, type StoredSnapshotHeader } from '../foldSnapshot.ts';
import { integer, oneOf, string, stringOrEmpty } from './column.ts';
import { defineTable } from './table.ts';

/** A chunk of a part of a snapshot, with what that part is of. */
export interface SnapshotChunkRow extends StoredSnapshotHeader {
  /** From 0. */
  readonly chunk: number;
  /** Of the part; 0 in chunks before the last one. */
  readonly chunkCount: number;
  /** SHA-256 of the payload of the part; empty in chunks before the last one. */
  readonly checksum: string;
  /** Records, gzipped, in base64: of all chunks of a part together. */
  readonly payload: string;
}

/** Snapshots of folds, each with its increments a partition of its own; each generation has a table of them. */
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
