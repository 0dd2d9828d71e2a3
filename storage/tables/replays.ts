import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { column, integer, json, oneOf } from './column.ts';
import { defineTable } from './table.ts';

/** What a replay set out to do; kept as JSON. */
export interface ReplayPlan {
  /** Generation of the tables that it fills. */
  readonly generation: number;
  /** Generation that was active then. */
  readonly baseGeneration: number;
  /** The options of the command, to recognize the same command. */
  readonly command: string;
  /** Sequences of `MINER_COUNTER` whose rows are made again. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Position of the snapshot that is folded from; null for the beginning of the stream. */
  readonly basePosition: number | null;
  /** Null for all. */
  readonly installationId: string | null;
  readonly dryRun: boolean;
  /** Version and deployment of the fold that it was begun with. */
  readonly identity: FoldIdentity;
}

/** `prepared`: what is retained of the active generation is in the new one. */
export type ReplayStep = (typeof replaySteps)[number];
const replaySteps = ['planned', 'prepared', 'ended'] as const;

export const replays = defineTable({
  name: 'replays',
  comment: 'Steps that replays have reached',
  columns: {
    generation: column(integer, { comment: 'Generation of the tables that it fills' }),
    step: column(oneOf(replaySteps), { comment: 'planned, prepared or ended' }),
    atMs: column(integer, { comment: 'When it reached the step (epoch milliseconds)' }),
    plan: column(json<ReplayPlan>(), { comment: 'What it set out to do, as JSON' }),
  },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
