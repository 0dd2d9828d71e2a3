import { integer, oneOf } from './column.ts';
import { defineTable } from './table.ts';

/** A removal of rows began or ended. */
export interface RemovalRow {
  /** From 1; a removal begins and ends with the same number. */
  readonly number: number;
  readonly step: 'begun' | 'ended';
}

export const removals = defineTable<RemovalRow>({
  name: 'removals',
  columns: { number: integer, step: oneOf(['begun', 'ended']) },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
