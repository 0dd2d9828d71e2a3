import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** A process took over the ingest. */
interface IngestEpochRow {
  /** From 1. */
  readonly epoch: number;
  /** The process, for people. */
  readonly holder: string;
  readonly atMs: number;
}

export const ingestEpochs = defineTable<IngestEpochRow>({
  name: 'ingest_epochs',
  comment: 'Processes that took over the ingest',
  columns: {
    epoch: column(integer, { comment: 'Number of the epoch, from 1' }),
    holder: column(string, { comment: 'Host of the process' }),
    atMs: column(integer, { comment: 'When it took over (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['epoch'],
});
