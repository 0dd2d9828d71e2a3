import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** The baseline, or a migration that was applied. */
export interface MigrationRow {
  readonly number: number;
  readonly name: string;
}

export const migrations = defineTable<MigrationRow>({
  name: 'migrations',
  comment: 'Migrations that were applied',
  columns: {
    number: column(integer, { comment: 'Number of the migration, from 1' }),
    name: column(string, { comment: 'What it brought' }),
  },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
