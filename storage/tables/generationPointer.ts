import { column, integer } from './column.ts';
import { defineTable } from './table.ts';

export const generationPointer = defineTable({
  name: 'generation_in_use',
  comment: 'Active generation of the tables: the row with the highest swap',
  columns: {
    swap: column(integer, { comment: 'Number of the swap, from 1' }),
    generation: column(integer, { comment: 'Generation that became active' }),
  },
  engine: 'MergeTree()',
  orderBy: ['swap'],
});
