import type { GenerationIdentity } from '../generationIdentity.ts';
import { integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** A generation was begun, and what its rows are made from. */
export interface GenerationRow extends GenerationIdentity {
  readonly generation: number;
  readonly atMs: number;
}

export const generations = defineTable<GenerationRow>({
  name: 'generations',
  columns: {
    generation: integer,
    foldVersion: integer,
    configuration: string,
    streamCreated: string,
    atMs: integer,
  },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
