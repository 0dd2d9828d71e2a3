import { column, integer, oneOf } from './column.ts';
import { defineTable } from './table.ts';

export const removals = defineTable({
  name: 'removals',
  comment: 'Removals of rows whose messages the stream has lost; reads during a removal may have holes',
  columns: {
    number: column(integer, { comment: 'Number of the removal, from 1' }),
    step: column(oneOf(['begun', 'ended']), { comment: 'begun or ended' }),
  },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
