import { integer } from './column.ts';
import { defineTable, type Table } from './table.ts';

/** A generation was made the active one. */
export interface PointerRow {
  /** From 1; the active generation is that of the highest swap. */
  readonly swap: number;
  readonly generation: number;
}

export const generationPointer = definePointer('generation_pointer');

/** The pointer that versions before migration 5 move. */
export const activeGeneration = definePointer('active_generation');

function definePointer(name: string): Table<PointerRow> {
  return defineTable<PointerRow>({
    name,
    columns: { swap: integer, generation: integer },
    engine: 'MergeTree()',
    orderBy: ['swap'],
  });
}
