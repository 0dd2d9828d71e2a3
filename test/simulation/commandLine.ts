import { parseArgs } from 'node:util';
import { drawPlan } from './plan/plan.ts';
import { simulate } from './simulation.ts';
import { realNowMs } from './world/realTime.ts';

const write = (text: string) => process.stdout.write(`${text}\n`);

/** `npm run simulate -- --seed 42 --minutes 5`. */
export async function runCommandLine(commandLine: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...commandLine],
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '1' },
      seeds: { type: 'string' },
      episodes: { type: 'string', default: '4' },
      trace: { type: 'boolean', default: false },
      log: { type: 'boolean', default: false },
      'keep-going': { type: 'boolean', default: false },
    },
  });
  const startedMs = realNowMs();
  const untilMs = startedMs + Number(values.minutes) * 60_000;
  const most = values.seeds === undefined ? Number.POSITIVE_INFINITY : Number(values.seeds);
  let [runs, failures, faults, ranMs, passedMs] = [0, 0, 0, 0, 0];
  for (let number = Number(values.seed); runs < most && (realNowMs() < untilMs || runs === 0); number++) {
    const plan = drawPlan(String(number), Number(values.episodes));
    const outcome = await simulate({
      plan,
      ...(values.trace && { onTrace: write }),
      ...(values.log && { onLog: (line: string) => write(line.trim()) }),
    });
    runs++;
    faults += outcome.counts.total();
    ranMs += outcome.ranMs;
    passedMs += outcome.passedMs;
    if (outcome.failure !== null) {
      write(`seed ${number}: ${outcome.failure.stack}`);
      process.exitCode = 1;
      failures++;
      if (!values['keep-going']) break;
      continue;
    }
    write(
      `seed ${number}: ${outcome.messages} messages, ${outcome.counts.total()} faults, ${Math.round((realNowMs() - startedMs) / 1000)} s`,
    );
  }
  const hours = (ms: number) => (ms / 3_600_000).toFixed(2);
  write(
    `${runs} seeds, ${failures} failed, ${faults} faults, ${hours(ranMs)} hours of the processes, ${hours(passedMs)} of the wheels, in ${Math.round((realNowMs() - startedMs) / 1000)} s`,
  );
}
