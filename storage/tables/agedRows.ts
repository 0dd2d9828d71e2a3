import { column, integer } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';

export const agedRows = defineTable({
  name: 'aged_rows',
  comment: 'Earlier TTLs of readings, and which of them they may have removed',
  columns: {
    goneBeforeMs: column(integer, {
      comment: 'Rows received before this time may be gone (epoch milliseconds)',
    }),
    atMs: column(integer, { comment: 'When the TTL was removed or replaced (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['atMs'],
});
