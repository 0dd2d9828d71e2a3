import type { Database } from './database.ts';
import { deleteWhere } from './deleteRowsAbove.ts';
import { generations } from './tables/generations.ts';
import { type ReplayPlan, type ReplayStep, replays } from './tables/replays.ts';
import { insertRows } from './tables/table.ts';

export type ReplayLog = ReturnType<typeof createReplayLog>;

/** Records the steps of replays, so a stopped or killed replay can be resumed. */
export function createReplayLog(database: Database, nowMs: () => number) {
  return {
    /** The newest replay that did not end, with its last step; null without one, or if its tables are already active. */
    unfinished: async (activeGeneration: number) => {
      const rows = await database.select(
        `SELECT ${replays.list} FROM ${replays.name} ORDER BY generation DESC, at_ms DESC`,
      );
      const noted = rows.map(replays.read);
      const [newest] = noted;
      if (newest === undefined || newest.generation === activeGeneration) return null;
      const steps = noted.filter(({ generation }) => generation === newest.generation);
      const has = (step: ReplayStep) => steps.some((row) => row.step === step);
      const step: ReplayStep = has('prepared') ? 'prepared' : 'planned';
      return has('ended') ? null : { plan: newest.plan, step };
    },
    note: (plan: ReplayPlan, step: ReplayStep) =>
      insertRows(database, replays, [{ generation: plan.generation, step, atMs: nowMs(), plan }]),
    /** Forgets a replay that left nothing behind, so its generation counts as unused. */
    forget: ({ generation }: ReplayPlan) =>
      deleteWhere(database, replays.name, {
        sql: 'generation = {generation:Int64}',
        parameters: { generation },
      }),
    nextGeneration: async (active: number) => {
      const [replayed] = await database.select(`SELECT max(generation) FROM ${replays.name}`);
      const [noted] = await database.select(`SELECT max(generation) FROM ${generations.name}`);
      return Math.max(active, Number(replayed?.[0]), Number(noted?.[0])) + 1;
    },
  };
}
