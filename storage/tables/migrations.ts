import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

export const migrations = defineTable({
  name: 'migrations',
  comment: 'Migrations that were applied',
  columns: {
    number: column(integer, { comment: 'Number of the migration, from 1' }),
    name: column(string, { comment: 'What it brought' }),
  },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
