import { Command, InvalidArgumentError, Option } from 'commander';
import { measureFleet } from './fleet.ts';
import { measureLive } from './live.ts';
import { measurePolling } from './polling.ts';
import { measureReplay } from './replay.ts';
import { measureStart } from './start.ts';
import { measureYears } from './years/measureYears.ts';

/** Options that shorten long benchmarks when all of them run. */
const lessToDo: Readonly<Record<string, readonly string[]>> = {
  polling: ['--rounds', '5'],
  years: ['--owners', '100000'],
  fleet: ['--rounds', '1', '--seconds', '20'],
};

const program = new Command('bench')
  .description(
    'Benchmarks of the service. Each starts its own parts on free ports, prints its results, and removes everything it made. Without a command all of them run, in less than twenty minutes.',
  )
  .addHelpText(
    'after',
    '\nBENCH_PROGRAM=dist/deploy/miner.js of another version measures that one under the same load; nothing is published then.',
  )
  .allowExcessArguments()
  .action((_options, command: Command) => {
    const [unknown] = command.args;
    if (unknown !== undefined)
      command.error(`error: unknown command '${unknown}'; --help lists the commands`);
    return measureAll();
  });

addRoundsCommand(
  'polling',
  'requests per second and latencies of the hot routes, compared with a bare handler',
  10,
)
  .option('--only <text>', 'only requests with this in their name; nothing is published then')
  .addOption(buildProfileOption())
  .action(measurePolling);

addRoundsCommand('replay', 'rate of `miner replay`, against a loop that only stores the same messages')
  .option('--readings <count>', 'messages of the stream', parseWholeNumber, 1_000_000)
  .addOption(buildProfileOption())
  .action(measureReplay);

addRoundsCommand(
  'live',
  'delay of a reading to the route while many wheels report, and many clients poll and listen',
  10,
)
  .option('--installations <count>', 'wheels with a reading per second each', parseWholeNumber, 10_000)
  .option('--pollers <count>', 'clients with a request per second each', parseWholeNumber, 2_000)
  .option('--listeners <count>', 'clients of the event stream', parseWholeNumber, 2_000)
  .addOption(buildProfileOption())
  .action(measureLive);

addRoundsCommand('fleet', 'cores, memory and lag of one process with many wheels', 3)
  .option('--installations <count>', 'wheels', parseWholeNumber, 100_000)
  .option('--every <seconds>', 'seconds from a reading of a wheel to its next one', parseWholeNumber, 10)
  .option('--seconds <count>', 'duration of each measurement', parseWholeNumber, 70)
  .addOption(buildProfileOption())
  .action(measureFleet);

addRoundsCommand(
  'start',
  'time to readiness: a restart with a year of readings folded, against a start on an empty folder; and the first `npm start`',
)
  .option(
    '--readings <count>',
    'readings of the year (one per second: 31536000)',
    parseWholeNumber,
    1_051_200,
  )
  .addOption(buildProfileOption())
  .action(measureStart);

program
  .command('years')
  .description('what a state of years costs to save, to keep and to restore')
  .option('--owners <count>', 'owners of a miner, now or before', parseWholeNumber, 1_000_000)
  .action(measureYears);

await program.parseAsync();

function addRoundsCommand(name: string, description: string, rounds = 5): Command {
  return program
    .command(name)
    .description(description)
    .option('--rounds <count>', 'measurements of each contender', parseWholeNumber, rounds);
}

function buildProfileOption(): Option {
  return new Option(
    '--profile <folder>',
    'write CPU profiles of the service into this folder; nothing is published then',
  );
}

/** Runs all benchmarks with their defaults, and long ones with less to do. */
async function measureAll(): Promise<void> {
  const names = program.commands.map((command) => command.name());
  for (const [index, name] of names.entries()) {
    process.stderr.write(`${index + 1} of ${names.length}: ${name}\n`);
    await program.parseAsync([name, ...(lessToDo[name] ?? [])], { from: 'user' });
  }
}

function parseWholeNumber(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('expected a whole number from 1.');
}
