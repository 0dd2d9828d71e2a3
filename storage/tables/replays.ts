import type { ReplayPlan } from '../replayLog.ts';
import { column, integer, json, oneOf } from './column.ts';
import { defineTable } from './table.ts';

/** `prepared`: what is retained of the active generation is in the new one. */
export type ReplayStep = (typeof replaySteps)[number];
const replaySteps = ['planned', 'prepared', 'ended'] as const;

/** A replay has reached a step. */
export interface ReplayRow {
  /** Generation of the tables that it fills. */
  readonly generation: number;
  readonly step: ReplayStep;
  readonly atMs: number;
  readonly plan: ReplayPlan;
}

export const replays = defineTable<ReplayRow>({
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
