import type { FoldIdentity } from '../actors/foldIdentity.ts';
import type { Database } from './database.ts';

/** What a replay set out to do; kept as JSON. */
export interface ReplayPlan {
  /** Generation of the tables that it fills. */
  readonly generation: number;
  /** Generation that was active then. */
  readonly baseGeneration: number;
  /** What the command was given, to tell the same command from another. */
  readonly command: string;
  /** Sequences of `MINER_COUNTER` whose rows are made anew. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Position of the snapshot that is folded from; null for the beginning of the stream. */
  readonly basePosition: number | null;
  /** Null for all. */
  readonly installationId: string | null;
  readonly dryRun: boolean;
  /** Version and deployment of the fold that it was begun with; left out by earlier versions. */
  readonly identity?: FoldIdentity;
}

/** `prepared`: what is kept of the active generation is in the new one. */
export type ReplayStep = 'planned' | 'prepared' | 'ended';

export interface ReplayLog {
  /** The newest replay that did not end, with its last step; null without one, or when its tables are active already. */
  unfinished(
    activeGeneration: number,
  ): Promise<{ readonly plan: ReplayPlan; readonly step: ReplayStep } | null>;
  note(plan: ReplayPlan, step: ReplayStep): Promise<void>;
  /** A generation that nothing has used and that is above `active`. */
  nextGeneration(active: number): Promise<number>;
}

/** Replays by what they have reached, so that one that was stopped or killed can be gone on with. */
export function createReplayLog(database: Database, nowMs: () => number): ReplayLog {
  return {
    unfinished: async (activeGeneration) => {
      const rows = await database.select(
        'SELECT generation, step, plan FROM replays ORDER BY generation DESC, at_ms DESC',
      );
      const generation = rows[0]?.[0];
      const steps = rows.filter((row) => row[0] === generation);
      const has = (step: ReplayStep) => steps.some((row) => row[1] === step);
      const plan = steps[0]?.[2];
      if (typeof plan !== 'string' || has('ended') || Number(generation) === activeGeneration) return null;
      return { plan: JSON.parse(plan) as ReplayPlan, step: has('prepared') ? 'prepared' : 'planned' };
    },
    note: (plan, step) =>
      database.insert(
        'replays',
        ['generation', 'step', 'at_ms', 'plan'],
        [[plan.generation, step, nowMs(), JSON.stringify(plan)]],
      ),
    nextGeneration: async (active) => {
      const [replayed] = await database.select('SELECT max(generation) FROM replays');
      const [noted] = await database.select('SELECT max(generation) FROM generations');
      return Math.max(active, Number(replayed?.[0]), Number(noted?.[0])) + 1;
    },
  };
}
