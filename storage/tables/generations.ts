import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** What the rows of a generation were made from: a fold of the counter stream, and that stream. */
export interface GenerationIdentity extends FoldIdentity {
  readonly streamCreated: string;
}

export const generations = defineTable({
  name: 'generations',
  comment: 'Generations of the tables, and what the rows of each were made from',
  columns: {
    generation: column(integer, { comment: 'Number of the generation' }),
    foldVersion: column(integer, { comment: 'Version of the fold' }),
    configuration: column(string, { comment: 'Digest of the deployment' }),
    streamCreated: column(string, { comment: 'Creation time of MINER_COUNTER' }),
    atMs: column(integer, { comment: 'When it was begun (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
