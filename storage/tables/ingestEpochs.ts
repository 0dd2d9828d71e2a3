import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

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
