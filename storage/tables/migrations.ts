import { integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** A migration that was applied. */
export interface MigrationRow {
  readonly number: number;
  readonly name: string;
}

export const migrations = defineTable<MigrationRow>({
  name: 'migrations',
  columns: { number: integer, name: string },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
