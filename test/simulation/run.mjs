// `npm run simulate`: builds the simulator, and runs it.
import { spawnSync } from 'node:child_process';
import { Command } from 'commander';

/** Options for the simulator, which parses them itself (`commandLine.ts`). */
const program = new Command('simulate')
  .description(
    'Runs the whole program in virtual time with simulated servers and random faults (test/simulation/README.md).',
  )
  .option('--seed <number>', 'first seed', '1')
  .option('--minutes <number>', 'longest time', '1')
  .option('--seeds <number>', 'number of seeds (default: as many as the time allows)')
  .option('--episodes <number>', 'stormy times of each seed', '4')
  .option('--dense', 'as many faults as possible')
  .option('--kept', 'first run the plans that have found something')
  .option('--plan <file>', 'only repeat the plan that a failure has written')
  .option('--trace', 'print each fault')
  .option('--log', 'print the log of the processes')
  .option('--keep-going', 'continue after a failure')
  .option('--no-shrinking', 'do not look for a shorter plan after a failure')
  .option('--mutations', 'instead put the faults of mutations.txt into the program, one at a time')
  .option('--untried', 'with --mutations: only those that current draws have not found')
  .parse();

// The builder is loaded only now, so that help comes at once.
const { mutations, untried } = program.opts();
if (mutations) {
  const { tryMutations } = await import('./tryMutations.mjs');
  await tryMutations({ untriedOnly: untried ?? false });
} else {
  const { buildSimulator, nodeOptions } = await import('./build.mjs');
  const simulator = await buildSimulator();
  const { status } = spawnSync(process.execPath, [...nodeOptions, simulator, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
