import { column, integer } from './column.ts';
import { defineTable } from './table.ts';

export const agedRows = defineTable({
  name: 'aged_rows',
  comment: 'TTLs of rows that are not in force any more, and what they may have removed',
  columns: {
    goneBeforeMs: column(integer, { comment: 'Rows received before it may be gone (epoch milliseconds)' }),
    atMs: column(integer, { comment: 'When the TTL was taken away or replaced (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['atMs'],
});
