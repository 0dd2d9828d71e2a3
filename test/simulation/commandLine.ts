import { readFileSync, writeFileSync } from 'node:fs';
import { keptPlans } from './keptPlans.ts';
import { mutationPlans } from './mutationPlans.ts';
import type { Plan } from './plan/plan.ts';
import { drawPlans, runSeeds, shrinkFailure, type Totals } from './runSeeds.ts';
import type { Outcome } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

const write = (text: string) => process.stdout.write(`${text}\n`);

/** Longest time for shortening a failed plan. */
const shrinkingMinutes = 3;

/** Settings of `npm run simulate -- --seed 42 --minutes 5`, as `run.mjs` parses them. */
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

export async function runCommandLine(settings: Settings): Promise<void> {
  const startedMs = realNowMs();
  const seconds = () => Math.round((realNowMs() - startedMs) / 1_000);
  const failures: { readonly plan: Plan; readonly failure: Error }[] = [];
  const onOutcome = (plan: Plan, { failure, messages, counts, fingerprint }: Outcome) => {
    const about = `${messages} messages, ${counts.total()} faults, ${fingerprint}, ${seconds()} s`;
    write(`seed ${plan.seed}: ${failure === null ? about : (failure.stack ?? failure.message)}`);
    if (failure !== null) failures.push({ plan, failure });
  };
  const totals = await runSeeds({
    plans: choosePlans(settings),
    minutes: Number(settings.minutes ?? 1),
    continues: settings.keepGoing ?? false,
    onOutcome,
    ...(settings.trace && { onTrace: write }),
    ...(settings.log && { onLog: (line: string) => write(line.trim()) }),
  });
  writeTotals(totals, seconds());
  const [first] = failures;
  if (first === undefined) return;
  process.exitCode = 1;
  if (settings.shrinking ?? true) await writeShrunk(first.plan, first.failure);
}

function choosePlans({ seed = '1', seeds, episodes, dense, kept, plan }: Settings): Iterable<Plan> {
  if (plan !== undefined) return [mutationPlans[plan] ?? (JSON.parse(readFileSync(plan, 'utf8')) as Plan)];
  const drawn = drawPlans({
    first: Number(seed),
    count: seeds === undefined ? (kept ? 0 : Number.POSITIVE_INFINITY) : Number(seeds),
    episodes: Number(episodes ?? (dense ? 2 : 4)),
    density: dense ? 'dense' : 'sparse',
  });
  return joinPlans(kept ? Object.values(keptPlans) : [], drawn);
}

function* joinPlans(kept: Iterable<Plan>, drawn: Iterable<Plan>): Iterable<Plan> {
  yield* kept;
  yield* drawn;
}

function writeTotals({ seeds, failed, faults, ranMs, passedMs, messages, byKind }: Totals, seconds: number) {
  const hours = (ms: number) => (ms / 3_600_000).toFixed(2);
  const { user, system } = process.cpuUsage();
  const processorSeconds = Math.max(1, Math.round((user + system) / 1e6));
  const kinds = [...byKind]
    .sort(([, one], [, other]) => other - one)
    .map(([kind, count]) => `${kind} ${count}`);
  write(
    `${seeds} seeds, ${failed} failed; ${messages} messages, ${faults} faults; ${hours(ranMs)} hours of the processes, ` +
      `${hours(passedMs)} of the wheels, in ${seconds} s, ${processorSeconds} s of a processor: ${(faults / processorSeconds).toFixed(0)} faults per second of it`,
  );
  write(kinds.join(', '));
}

async function writeShrunk(plan: Plan, failure: Error) {
  write(`making the plan of seed ${plan.seed} shorter, for ${shrinkingMinutes} minutes at most`);
  const shortest = await shrinkFailure(plan, failure, shrinkingMinutes);
  const path = `dist/simulation/seed-${plan.seed}.json`;
  writeFileSync(path, JSON.stringify(shortest, null, 2));
  write(JSON.stringify(shortest));
  write(`repeat it with: npm run simulate -- --plan ${path} --trace --log`);
}
