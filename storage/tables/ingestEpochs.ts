import { column, integer, string } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';

/** A process that ingests, in one epoch. No two are equal. */
export interface EpochHolder {
  readonly epoch: number;
  /** Host and random ID of the process. */
  readonly holder: string;
}

export const ingestEpochs = defineTable({
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
