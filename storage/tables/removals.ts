import { column, integer, oneOf } from './column.ts';
import { defineTable } from './table.ts';

/** A removal of rows began or ended. */
export interface RemovalRow {
  /** From 1; a removal begins and ends with the same number. */
  readonly number: number;
  readonly step: 'begun' | 'ended';
}

export const removals = defineTable<RemovalRow>({
  name: 'removals',
  comment: 'Removals of rows whose messages the stream has lost: what is read meanwhile may have a hole',
  columns: {
    number: column(integer, { comment: 'Number of the removal, from 1' }),
    step: column(oneOf(['begun', 'ended']), { comment: 'begun or ended' }),
  },
  engine: 'MergeTree()',
  orderBy: ['number'],
});
