import type { Database } from './database.ts';
import { deleteWhere } from './deleteRowsAbove.ts';
import { generations } from './tables/generations.ts';
import { type ReplayPlan, type ReplayStep, replays } from './tables/replays.ts';
import { insertRows } from './tables/table.ts';

export interface ReplayLog {
  /** The newest replay that did not end, with its last step; null without one, or if its tables are already active. */
  unfinished(
    activeGeneration: number,
  ): Promise<{ readonly plan: ReplayPlan; readonly step: ReplayStep } | null>;
  note(plan: ReplayPlan, step: ReplayStep): Promise<void>;
  /** Forgets a replay that left nothing behind, so its generation counts as unused. */
  forget(plan: ReplayPlan): Promise<void>;
  /** An unused generation above `active`. */
  nextGeneration(active: number): Promise<number>;
}

/** Records the steps of replays, so a stopped or killed replay can be resumed. */
export function createReplayLog(database: Database, nowMs: () => number): ReplayLog {
  return {
    unfinished: async (activeGeneration) => {
      const rows = await database.select(
        `SELECT ${replays.list} FROM ${replays.name} ORDER BY generation DESC, at_ms DESC`,
      );
      const noted = rows.map(replays.read);
      const [newest] = noted;
      if (newest === undefined || newest.generation === activeGeneration) return null;
      const steps = noted.filter(({ generation }) => generation === newest.generation);
      const has = (step: ReplayStep) => steps.some((row) => row.step === step);
      return has('ended') ? null : { plan: newest.plan, step: has('prepared') ? 'prepared' : 'planned' };
    },
    note: (plan, step) =>
      insertRows(database, replays, [{ generation: plan.generation, step, atMs: nowMs(), plan }]),
    forget: ({ generation }) =>
      deleteWhere(database, replays.name, {
        sql: 'generation = {generation:Int64}',
        parameters: { generation },
      }),
    nextGeneration: async (active) => {
      const [replayed] = await database.select(`SELECT max(generation) FROM ${replays.name}`);
      const [noted] = await database.select(`SELECT max(generation) FROM ${generations.name}`);
      return Math.max(active, Number(replayed?.[0]), Number(noted?.[0])) + 1;
    },
  };
}
