import { Command, InvalidArgumentError } from 'commander';
import { measureChain } from './chain.ts';
import { measureFeed } from './feed.ts';
import { measureMemory } from './memory.ts';
import { measurePolling } from './polling.ts';
import { measureReplay } from './replay.ts';
import { measureScaleOut } from './scaleOut.ts';
import { measureStart } from './start.ts';
import { measureStatistics } from './statistics.ts';
import { measureStream } from './stream.ts';

const program = new Command('bench')
  .description(
    'Benchmarks of the service. Each starts its own parts on free ports, prints what it measured, and removes what it made. Without a command all of them run, in less than twenty minutes.',
  )
  .allowExcessArguments()
  .action((_options, command: Command) => {
    const [unknown] = command.args;
    if (unknown !== undefined)
      command.error(`error: unknown command '${unknown}'; --help lists those that are`);
    return measureAll();
  });

program
  .command('memory')
  .description('resident memory of the service while it takes one reading a second of many installations')
  .option('--installations <count>', 'wheels that publish', wholeNumber, 1_000)
  .option('--seconds <count>', 'simulated seconds, one reading of each wheel in each', wholeNumber, 3_600)
  .option('--speed <count>', 'simulated seconds in a second, at most', wholeNumber, 10)
  .action(measureMemory);

program
  .command('polling')
  .description(
    'requests a second and latencies of the hot routes, beside a bare handler, nginx, Fastify and Express',
  )
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measurePolling);

program
  .command('feed')
  .description('polling while many clients listen to the event stream')
  .option('--listeners <count>', 'clients that listen', wholeNumber, 2_000)
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureFeed);

program
  .command('replay')
  .description('rate of `miner replay`, against a bare consumption of the same messages')
  .option('--readings <count>', 'messages of the stream', wholeNumber, 1_000_000)
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureReplay);

program
  .command('stream')
  .description('delay of a reading to the route, and how time and memory of the folds grow')
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureStream);

program
  .command('chain')
  .description('rates of folding spans and of indexing a local chain')
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureChain);

program
  .command('statistics')
  .description('a statistics request, against the same answer made by ClickHouse for each request')
  .option('--days <count>', 'days of readings, one each ten seconds', wholeNumber, 30)
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureStatistics);

program
  .command('start')
  .description(
    'time to readiness: a restart with a year of readings folded, against a start on an empty folder',
  )
  .option('--readings <count>', 'readings of the year (one a second: 31536000)', wholeNumber, 1_051_200)
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureStart);

program
  .command('scale-out')
  .description('total rate of one and two read replicas that share a port, and that they show the same')
  .option('--rounds <count>', 'measurements of each', wholeNumber, 5)
  .action(measureScaleOut);

await program.parseAsync();

/** All of them, those that are long with less to do. */
async function measureAll(): Promise<void> {
  const rounds = 5;
  const measurements: readonly (readonly [name: string, measure: () => Promise<void>])[] = [
    ['polling', () => measurePolling({ rounds })],
    ['feed', () => measureFeed({ listeners: 2_000, rounds })],
    ['replay', () => measureReplay({ readings: 1_000_000, rounds })],
    ['stream', () => measureStream({ rounds })],
    ['chain', () => measureChain({ rounds })],
    ['statistics', () => measureStatistics({ days: 30, rounds })],
    ['start', () => measureStart({ readings: 1_051_200, rounds })],
    ['scale-out', () => measureScaleOut({ rounds })],
    ['memory', () => measureMemory({ installations: 1_000, seconds: 600, speed: 10 })],
  ];
  for (const [index, [name, measure]] of measurements.entries()) {
    process.stderr.write(`${index + 1} of ${measurements.length}: ${name}\n`);
    await measure();
  }
}

function wholeNumber(given: string): number {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given);
  throw new InvalidArgumentError('expected a whole number from 1.');
}
