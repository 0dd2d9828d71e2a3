import { column, integer } from './column.ts';
import { defineTable } from './table.ts';

export const generationPointer = defineTable({
  name: 'generation_in_use',
  comment: 'Which generation of the tables is the active one: that of the highest swap',
  columns: {
    swap: column(integer, { comment: 'Number of the swap, from 1' }),
    generation: column(integer, { comment: 'Generation that became the active one' }),
  },
  engine: 'MergeTree()',
  orderBy: ['swap'],
});
