import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { keptPlans } from './keptPlans.ts';
import type { Plan } from './plan/plan.ts';
import { drawPlans, runSeeds, shrinkFailure, type Totals } from './runSeeds.ts';
import type { Outcome } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

const write = (text: string) => process.stdout.write(`${text}\n`);

/** Longest time for shortening a failed plan. */
const shrinkingMinutes = 3;

/** `npm run simulate -- --seed 42 --minutes 5`. */
export async function runCommandLine(commandLine: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...commandLine],
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '1' },
      seeds: { type: 'string' },
      episodes: { type: 'string', default: '4' },
      dense: { type: 'boolean', default: false },
      kept: { type: 'boolean', default: false },
      plan: { type: 'string' },
      trace: { type: 'boolean', default: false },
      log: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
      'no-shrinking': { type: 'boolean', default: false },
    },
  });
  const startedMs = realNowMs();
  const seconds = () => Math.round((realNowMs() - startedMs) / 1_000);
  const failures: { readonly plan: Plan; readonly failure: Error }[] = [];
  const onOutcome = (plan: Plan, { failure, messages, counts, fingerprint }: Outcome) => {
    const about = `${messages} messages, ${counts.total()} faults, ${fingerprint}, ${seconds()} s`;
    write(`seed ${plan.seed}: ${failure === null ? about : (failure.stack ?? failure.message)}`);
    if (failure !== null) failures.push({ plan, failure });
  };
  const totals = await runSeeds({
    plans: choosePlans(values),
    minutes: Number(values.minutes),
    continues: values['keep-going'],
    onOutcome,
    ...(values.trace && { onTrace: write }),
    ...(values.log && { onLog: (line: string) => write(line.trim()) }),
  });
  writeTotals(totals, seconds());
  const [first] = failures;
  if (first === undefined) return;
  process.exitCode = 1;
  if (!values['no-shrinking']) await writeShrunk(first.plan, first.failure);
}

function choosePlans(values: {
  readonly seed: string;
  readonly seeds?: string | undefined;
  readonly episodes: string;
  readonly dense: boolean;
  readonly kept: boolean;
  readonly plan?: string | undefined;
}): Iterable<Plan> {
  // Written by this program.
  if (values.plan !== undefined) return [JSON.parse(readFileSync(values.plan, 'utf8')) as Plan];
  const kept = values.kept ? Object.values(keptPlans) : [];
  const count =
    values.seeds === undefined ? (values.kept ? 0 : Number.POSITIVE_INFINITY) : Number(values.seeds);
  const drawn = drawPlans({
    first: Number(values.seed),
    count,
    episodes: Number(values.episodes),
    density: values.dense ? 'dense' : 'sparse',
  });
  return joinPlans(kept, drawn);
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
