import { inputStreamNames } from '../../actors/messages/subjects.ts';
import { integer, nullableString, oneOf, string } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';
import type { StoredSnapshotHeader } from './foldSnapshot.ts';

interface StateChunkRow extends StoredSnapshotHeader {
  /** From 0. */
  readonly chunk: number;
  /** Piece of the state's text, compressed with Brotli, in base64. */
  readonly payload: string;
}

/** Snapshots of folds, each a whole state in a partition of its own. */
export const foldStates = defineTable<StateChunkRow>({
  name: 'fold_states',
  columns: {
    snapshot: string,
    chunk: integer,
    stream: oneOf(inputStreamNames),
    run: string,
    foldVersion: integer,
    configuration: string,
    streamCreated: string,
    position: integer,
    digest: nullableString,
    takenAtMs: integer,
    checksum: string,
    payload: string,
  },
  engine: 'MergeTree()',
  partitionBy: { value: 'snapshot' },
  orderBy: ['snapshot', 'chunk'],
});
