import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { column, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** Source of a generation's rows: a fold of the counter stream, and that stream. */
export interface GenerationIdentity extends FoldIdentity {
  readonly streamCreated: string;
}

export const generations = defineTable({
  name: 'generations',
  comment: 'Generations of the tables, and the source of the rows of each',
  columns: {
    generation: column(integer, { comment: 'Number of the generation' }),
    foldVersion: column(integer, { comment: 'Version of the fold' }),
    configuration: column(string, { comment: 'Digest of the deployment' }),
    streamCreated: column(string, { comment: 'Creation time of MINER_COUNTER' }),
    atMs: column(integer, { comment: 'When the generation began (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
