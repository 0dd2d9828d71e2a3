import { SimulationFailure } from './checks/failure.ts';
import { type Density, drawPlan } from './plan/drawPlan.ts';
import type { Plan } from './plan/plan.ts';
import { shrinkPlan } from './plan/shrink.ts';
import { type Outcome, simulate } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

interface RunSeedsOptions {
  /** They run in this order while time is left. */
  readonly plans: Iterable<Plan>;
  readonly minutes: number;
  readonly onTrace?: (line: string) => void;
  readonly onLog?: (line: string) => void;
  /** Called for each finished seed. */
  readonly onOutcome: (plan: Plan, outcome: Outcome) => void;
  /** Whether to continue after a failure. */
  readonly continues: boolean;
}

export interface Totals {
  seeds: number;
  failed: number;
  faults: number;
  ranMs: number;
  passedMs: number;
  messages: number;
  readonly byKind: Map<string, number>;
}

export async function runSeeds(options: RunSeedsOptions): Promise<Totals> {
  const { plans, minutes, onTrace, onLog, onOutcome, continues } = options;
  const untilMs = realNowMs() + minutes * 60_000;
  const byKind = new Map<string, number>();
  const totals: Totals = { seeds: 0, failed: 0, faults: 0, ranMs: 0, passedMs: 0, messages: 0, byKind };
  for (const plan of plans) {
    if (totals.seeds > 0 && realNowMs() > untilMs) break;
    const outcome = await simulate({ plan, ...(onTrace && { onTrace }), ...(onLog && { onLog }) });
    totals.seeds++;
    totals.faults += outcome.counts.total();
    totals.ranMs += outcome.ranMs;
    totals.passedMs += outcome.passedMs;
    totals.messages += outcome.messages;
    for (const [kind, count] of outcome.counts.byKind) byKind.set(kind, (byKind.get(kind) ?? 0) + count);
    onOutcome(plan, outcome);
    if (outcome.failure === null) continue;
    totals.failed++;
    if (!continues) break;
  }
  return totals;
}

interface DrawnSeeds {
  readonly first: number;
  readonly count: number;
  readonly episodes: number;
  readonly density: Density;
}

export function* drawPlans({ first, count, episodes, density }: DrawnSeeds): Iterable<Plan> {
  for (let seed = first; seed < first + count; seed++) yield drawPlan(String(seed), episodes, density);
}

/** The shortest plan found in time that fails in the same way. */
export function shrinkFailure(plan: Plan, failure: Error, minutes: number): Promise<Plan> {
  const untilMs = realNowMs() + minutes * 60_000;
  const kindOf = (error: Error | null) => (error instanceof SimulationFailure ? error.check : error?.name);
  return shrinkPlan(
    plan,
    async (smaller) => kindOf((await simulate({ plan: smaller })).failure) === kindOf(failure),
    () => realNowMs() < untilMs,
  );
}
