import { integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** A process took over the ingest. */
export interface IngestEpochRow {
  /** From 1. */
  readonly epoch: number;
  /** The process, for people. */
  readonly holder: string;
  readonly atMs: number;
}

export const ingestEpochs = defineTable<IngestEpochRow>({
  name: 'ingest_epochs',
  columns: { epoch: integer, holder: string, atMs: integer },
  engine: 'MergeTree()',
  orderBy: ['epoch'],
});
