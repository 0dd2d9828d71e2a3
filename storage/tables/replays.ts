import type { ReplayPlan } from '../replayLog.ts';
import { integer, json, oneOf } from './column.ts';
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
  columns: { generation: integer, step: oneOf(replaySteps), atMs: integer, plan: json<ReplayPlan>() },
  engine: 'MergeTree()',
  orderBy: ['generation', 'atMs'],
});
