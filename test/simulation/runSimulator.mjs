// `npm run simulate`: builds the simulator, and runs it.
import { spawnSync } from 'node:child_process';
import { Command } from 'commander';

const program = new Command('simulate')
  .description(
    'Runs the whole program in virtual time with simulated servers and random faults (CONTRIBUTING.md, The simulator).',
  )
  .option('--seed <number>', 'first seed (default: 1)')
  .option('--minutes <number>', 'longest time (default: 1)')
  .option('--seeds <number>', 'number of seeds (default: as many as the time allows)')
  .option('--episodes <number>', 'stormy times of each seed (default: 4, or 2 long ones with --dense)')
  .option('--dense', 'as many faults as possible')
  .option('--kept', 'first run the plans that have found something, as npm test does')
  .option('--plan <file>', 'only repeat the plan that a failure has written')
  .option('--trace', 'print each fault')
  .option('--log', 'print the log of the processes')
  .option('--keep-going', 'continue after a failure')
  .option('--no-shrinking', 'do not look for a shorter plan after a failure')
  .option('--mutations', 'instead put faults into the program, which the checks must find')
  .parse();

// The builder is loaded only now, so that help comes at once.
const settings = program.opts();
if (settings.mutations) {
  const { tryMutations } = await import('./tryMutations.mjs');
  process.exitCode = (await tryMutations()) ? 0 : 1;
} else {
  const { buildSimulator, nodeOptions } = await import('./buildSimulator.mjs');
  const simulator = await buildSimulator();
  const { status } = spawnSync(process.execPath, [...nodeOptions, simulator, JSON.stringify(settings)], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
