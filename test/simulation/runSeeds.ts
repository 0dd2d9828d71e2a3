import { SimulationFailure } from './checks/failure.ts';
import { drawDensePlan } from './plan/densePlan.ts';
import { drawPlan, type Plan } from './plan/plan.ts';
import { shrinkPlan } from './plan/shrink.ts';
import { type Outcome, simulate } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

interface RunSeedsOptions {
  /** In this order, for as long as there is time. */
  readonly plans: Iterable<Plan>;
  readonly minutes: number;
  readonly onTrace?: (line: string) => void;
  readonly onLog?: (line: string) => void;
  /** Each seed that has run. */
  readonly onOutcome: (plan: Plan, outcome: Outcome) => void;
  /** Whether the next one runs although this one has failed. */
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
  /** With as many faults as there is time for. */
  readonly isDense: boolean;
}

export function* drawPlans({ first, count, episodes, isDense }: DrawnSeeds): Iterable<Plan> {
  const draw = isDense ? drawDensePlan : drawPlan;
  for (let seed = first; seed < first + count; seed++) yield draw(String(seed), episodes);
}

/** The shortest plan that fails in the same way, as far as it is found in time. */
export function shrinkFailure(plan: Plan, failure: Error, minutes: number): Promise<Plan> {
  const untilMs = realNowMs() + minutes * 60_000;
  const kindOf = (error: Error | null) => (error instanceof SimulationFailure ? error.check : error?.name);
  return shrinkPlan(
    plan,
    async (smaller) => kindOf((await simulate({ plan: smaller })).failure) === kindOf(failure),
    () => realNowMs() < untilMs,
  );
}
