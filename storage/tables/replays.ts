import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { column, integer, json, oneOf } from './column.ts';
import { defineTable } from './table.ts';

/** Plan of a replay, stored as JSON. */
export interface ReplayPlan {
  /** Generation that the replay fills. */
  readonly generation: number;
  /** Generation that was active when it was planned. */
  readonly baseGeneration: number;
  /** Options of the command, to recognize a repetition. */
  readonly command: string;
  /** First sequence of `MINER_COUNTER` whose rows are made again. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Position of the snapshot to start from; null for the start of the stream. */
  readonly basePosition: number | null;
  /** Null for all. */
  readonly installationId: string | null;
  readonly dryRun: boolean;
  /** Version and deployment of the fold when it was planned. */
  readonly identity: FoldIdentity;
}

/** `prepared`: the new generation holds the rows kept from the active one. */
export type ReplayStep = (typeof replaySteps)[number];
const replaySteps = ['planned', 'prepared', 'ended'] as const;

export const replays = defineTable({
  name: 'replays',
  comment: 'Steps that replays have reached',
  columns: {
    generation: column(integer, { comment: 'Generation of the tables that the replay fills' }),
    step: column(oneOf(replaySteps), { comment: 'planned, prepared or ended' }),
    atMs: column(integer, { comment: 'When the replay reached the step (epoch milliseconds)' }),
    plan: column(json<ReplayPlan>(), { comment: 'Plan of the replay, as JSON' }),
  },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
