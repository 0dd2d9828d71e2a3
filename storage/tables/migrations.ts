import { column, integer, string } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';

export const migrations = defineTable({
  name: 'migrations',
  comment: 'Applied migrations',
  columns: {
    number: column(integer, { comment: 'Number of the migration, from 1' }),
    name: column(string, { comment: 'Name of the migration' }),
  },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
