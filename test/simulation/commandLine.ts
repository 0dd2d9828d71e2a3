import { readFileSync, writeFileSync } from 'node:fs';
import type { Session } from 'chdb';
import { SimulationFailure } from './checks/failure.ts';
import { openEngine } from './clickhouse/simulatedClickHouse.ts';
import { mutationPlans } from './mutationPlans.ts';
import { drawPlan } from './plan/drawPlan.ts';
import type { Plan } from './plan/plan.ts';
import { shrinkPlan } from './plan/shrink.ts';
import { regressionPlans } from './regressionPlans.ts';
import { simulate } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

const write = (text: string) => process.stdout.write(`${text}\n`);

/** Longest time for shortening a failed plan. */
const shrinkingMinutes = 3;

/** Settings of `npm run simulate -- --seed 42 --minutes 5`, as `runSimulator.mjs` parses them. */
interface Settings {
  readonly seed?: string;
  readonly minutes?: string;
  readonly seeds?: string;
  readonly episodes?: string;
  readonly dense?: boolean;
  readonly kept?: boolean;
  /** A file, or the name of a plan for `mutations.txt`. */
  readonly plan?: string;
  readonly trace?: boolean;
  readonly log?: boolean;
  readonly keepGoing?: boolean;
  readonly shrinking?: boolean;
}

/** Runs plans in their order while time is left. */
export async function runCommandLine(settings: Settings): Promise<void> {
  const { minutes = 1, trace = false, log = false, keepGoing = false, shrinking = true } = settings;
  const engine = openEngine();
  const startedMs = realNowMs();
  const passedSeconds = () => Math.round((realNowMs() - startedMs) / 1_000);
  const byKind = new Map<string, number>();
  const totals = { seeds: 0, failed: 0, faults: 0, ranMs: 0, passedMs: 0, messages: 0 };
  let first: { readonly plan: Plan; readonly failure: Error } | null = null;
  for (const plan of choosePlans(settings)) {
    if (totals.seeds > 0 && passedSeconds() > Number(minutes) * 60) break;
    let faults = 0;
    const { failure, fingerprint, messages, ranMs, passedMs } = await simulate({
      plan,
      engine,
      onFault: (kind) => {
        faults++;
        byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
      },
      ...(trace && { onTrace: write }),
      ...(log && { onLog: (line: string) => write(line.trim()) }),
    });
    totals.seeds++;
    totals.faults += faults;
    totals.ranMs += ranMs;
    totals.passedMs += passedMs;
    totals.messages += messages;
    const about = `${messages} messages, ${faults} faults, ${fingerprint}, ${passedSeconds()} s`;
    write(`seed ${plan.seed}: ${failure === null ? about : (failure.stack ?? failure.message)}`);
    if (failure === null) continue;
    totals.failed++;
    first ??= { plan, failure };
    if (!keepGoing) break;
  }
  writeTotals(totals, passedSeconds());
  const kinds = [...byKind].sort(([, one], [, other]) => other - one);
  write(kinds.map(([kind, count]) => `${kind} ${count}`).join(', '));
  if (first === null) return;
  process.exitCode = 1;
  if (shrinking) await writeShrunk(first.plan, first.failure, engine);
}

function* choosePlans(settings: Settings): Iterable<Plan> {
  const { seed = '1', dense = false, kept = false, plan } = settings;
  if (plan !== undefined) {
    yield mutationPlans[plan] ?? (JSON.parse(readFileSync(plan, 'utf8')) as Plan);
    return;
  }
  if (kept) yield* Object.values(regressionPlans);
  const end = Number(seed) + Number(settings.seeds ?? (kept ? 0 : Number.POSITIVE_INFINITY));
  const episodes = Number(settings.episodes ?? (dense ? 2 : 4));
  for (let next = Number(seed); next < end; next++)
    yield drawPlan(String(next), episodes, dense ? 'dense' : 'sparse');
}

function writeTotals(
  { seeds, failed, faults, ranMs, passedMs, messages }: Readonly<Record<string, number>>,
  seconds: number,
) {
  const hours = (ms = 0) => (ms / 3_600_000).toFixed(2);
  const { user, system } = process.cpuUsage();
  const processorSeconds = Math.max(1, Math.round((user + system) / 1e6));
  write(
    `${seeds} seeds, ${failed} failed; ${messages} messages, ${faults} faults; ${hours(ranMs)} hours of the processes, ` +
      `${hours(passedMs)} of the wheels, in ${seconds} s, ${processorSeconds} s of a processor: ${((faults ?? 0) / processorSeconds).toFixed(0)} faults per second of it`,
  );
}

async function writeShrunk(plan: Plan, failure: Error, engine: Session) {
  write(`making the plan of seed ${plan.seed} shorter, for ${shrinkingMinutes} minutes at most`);
  const untilMs = realNowMs() + shrinkingMinutes * 60_000;
  const kindOf = (error: Error | null) => (error instanceof SimulationFailure ? error.check : error?.name);
  const shortest = await shrinkPlan(
    plan,
    async (smaller) => kindOf((await simulate({ plan: smaller, engine })).failure) === kindOf(failure),
    () => realNowMs() < untilMs,
  );
  const path = `dist/simulation/seed-${plan.seed}.json`;
  writeFileSync(path, JSON.stringify(shortest, null, 2));
  write(JSON.stringify(shortest));
  write(`repeat it with: npm run simulate -- --plan ${path} --trace --log`);
}
