import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { rejectionReasons } from '../actors/messages/rejectionReasons.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { StreamPlace } from './commands/replay/replayPlan.ts';
import type { DoctorOptions } from './commands/runDoctor.ts';
import type { IndexerOptions } from './commands/runIndexer.ts';
import type { LocalOptions } from './commands/runLocal.ts';
import type { McpOptions } from './commands/runMcp.ts';
import { type Shell, shells, writeCompletion } from './commands/writeCompletion.ts';
import { variablesHelp } from './configuration/configuration.ts';
import { createRedaction, redactOutput } from './process/redaction.ts';
import type { ServiceSettings } from './service/serviceSettings.ts';

const { version } = packageJson;

const program = new Command('miner')
  .description(
    'Mining Activity Read Service: publishes a wheel’s mining activity, read-only, as JSON over HTTP.',
  )
  .version(version)
  .addHelpText('after', `\n${variablesHelp()}\n`);

program
  .command('run')
  .description('ingest and serve in one process, and index where MINER_RPC_URL is set')
  .action(() => runRoles({ ingest: true, serve: true }));

program
  .command('ingest')
  .description('fold the streams and write ClickHouse; answers only on the operators’ port')
  .action(() => runRoles({ ingest: true, serve: false }));

program
  .command('serve')
  .description('a read replica: restores the newest snapshot, follows the streams, answers; writes nothing')
  .action(() => runRoles({ ingest: false, serve: true }));

program
  .command('index')
  .description('read the chain from MINER_RPC_URL and publish it to the streams; nothing else')
  .option(
    '--from-block <block>',
    'publish again from this block on, replacing what was published before; then continue',
    parseBlock,
  )
  .action(async (options: IndexerOptions) => (await import('./commands/runIndexer.ts')).runIndexer(options));

program
  .command('local')
  .description(
    'the whole service on this machine, with a simulated wheel and economy (what `npm start` runs)',
  )
  .option('--past-days <days>', 'days of the simulated past', '8')
  .option('--past-interval <seconds>', 'seconds between two readings of the past, at most 120', '10')
  .action(async (options: LocalOptions) => (await import('./commands/runLocal.ts')).runLocal(options));

program
  .command('replay')
  .description('rebuild what ClickHouse holds of the readings, from the stream, and swap it in')
  .option(
    '--from-sequence <sequence>',
    'first message of MINER_COUNTER whose rows are rebuilt',
    parseSequence,
  )
  .option('--from-time <time>', 'or the first one that was stored at this time or later', parseTime)
  .option(
    '--to <sequence or time>',
    'last message; what follows is folded by the service (default: all)',
    parsePlace,
  )
  .option('--installation <id>', 'only this installation; the others stay as they are')
  .option(
    '--incomplete',
    'continue where messages have left the stream; without it what cannot be rebuilt is printed',
  )
  .option('--dry-run', 'print which days would change and how, and change nothing')
  .option('--discard', 'remove what an unfinished replay has left, and do nothing else')
  .addHelpText(
    'after',
    `
Readings, rounds, half-hour buckets and statistics are rebuilt in new tables next to the active ones, compared with them, and
swapped in. Stopped or killed, the same command continues where it was. A running service takes the new tables over by
itself, and answers its statistics with 503 until it has; the embedded ClickHouse belongs to one process, so stop the
service first.`,
  )
  .action(async (options: ReplayOptions, command: Command) => {
    const { runReplay } = await import('./commands/replay/runReplay.ts');
    if (options.discard) return runReplay('discard');
    const starts = [options.fromSequence, options.fromTime].filter((from) => from !== undefined);
    const [from] = starts;
    if (from === undefined || starts.length > 1)
      command.error('error: expected either --from-sequence or --from-time (or --discard)', { exitCode: 2 });
    const { to = null, installation: installationId = null, dryRun = false } = options;
    const isIncomplete = options.incomplete ?? false;
    return runReplay({ from, to, installationId, dryRun, isIncomplete });
  });

program
  .command('doctor')
  .description('check every part and reconcile the counts; names a remedy for each failure')
  .option('--quick', 'leave out what reads whole streams')
  .option(
    '--nats-monitoring <url>',
    'address of the monitoring of a nats-server, such as http://nats:8222, which tells its sync settings and its room',
    parseHttpAddress,
  )
  .option(
    '--from-block <block>',
    'first block of the chain that is proven again (default: the deployment block)',
    parseBlock,
  )
  .action(async (options: DoctorOptions) => (await import('./commands/runDoctor.ts')).runDoctor(options));

program
  .command('rejected')
  .description('list the newest messages that were not accepted, and why')
  .option('--count <number>', 'how many, at most', parseCount, 20)
  .addOption(new Option('--reason <reason>', 'only of this reason').choices(rejectionReasons))
  .option('--follow', 'wait for later ones, until it is interrupted')
  .action(async ({ count, reason, follow = false }: RejectedCommandOptions) =>
    (await import('./commands/runRejected.ts')).runRejected({
      count,
      reason: reason ?? null,
      isFollowing: follow,
    }),
  );

program
  .command('check-message')
  .description('check a message before it is published: prints `accepted`, or the reason why not')
  .argument('<subject>', 'such as miner.counter.my~wheel')
  .argument('[file]', 'file with the message; standard input by default')
  .option('--live', 'also compare it with what the streams of MINER_NATS_URL hold; publishes nothing')
  .addHelpText(
    'after',
    `
The check needs no running service. It applies every rule that the content of a message can break. With --live it also applies
the rules that compare a message with earlier ones: duplicate, out_of_order, counter_regression, not_allowed. Readings and module
snapshots are compared with those among the newest 10000 messages of their stream. Limits on the number of installations
and instances are not checked, and NATS drops a message ID that it has seen in the last two minutes.

Exit status: 0 accepted, 1 rejected, 2 not checked.`,
  )
  .action(async (subject: string, file: string | undefined, { live = false }: { readonly live?: boolean }) =>
    (await import('./commands/runCheckMessage.ts')).runCheckMessage({
      subject,
      file: file ?? null,
      isLive: live,
    }),
  );

program
  .command('completion')
  .description(
    'print a script that completes commands and options, such as for `source <(miner completion bash)`',
  )
  .addArgument(new Argument('<shell>').choices(shells))
  .action((shell: Shell) => {
    process.stdout.write(writeCompletion(shell, program, process.argv[1] ?? ''));
  });

program
  .command('openapi')
  .description('print the OpenAPI 3.1 document of the public routes')
  .action(async () => {
    const { createOpenApiDocument } = await import('../http/routes/documentation/openApi.ts');
    process.stdout.write(`${JSON.stringify(createOpenApiDocument(version), null, 2)}\n`);
  });

program
  .command('mcp')
  .description(
    'answer a language model over stdio (Model Context Protocol) from the public routes of a service, read-only',
  )
  .option('--url <url>', 'address of the service', parseHttpAddress, 'http://127.0.0.1:8080')
  .action(async (options: McpOptions) => (await import('./commands/runMcp.ts')).runMcp(options, version));

for (const command of program.commands) command.addHelpText('after', `\n${variablesHelp()}\n`);

// Files of this process, and of the servers that it starts, are this user's alone.
process.umask(0o077);
redactOutput(createRedaction(process.env));
try {
  await program.parseAsync();
} catch (error) {
  // Not left to Node, which would print it around the redaction.
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

interface ReplayOptions {
  readonly fromSequence?: StreamPlace;
  readonly fromTime?: StreamPlace;
  readonly to?: StreamPlace;
  readonly installation?: string;
  readonly incomplete?: boolean;
  readonly dryRun?: boolean;
  readonly discard?: boolean;
}

interface RejectedCommandOptions {
  readonly count: number;
  readonly reason?: string;
  readonly follow?: boolean;
}

/** Each command loads its modules when it is run, so that help and usage errors are answered at once. */
async function runRoles(roles: ServiceSettings['roles']): Promise<void> {
  const { runService } = await import('./commands/runService.ts');
  await runService(roles);
}

function parseSequence(text: string): StreamPlace {
  if (/^[1-9]\d{0,14}$/.test(text)) return { sequence: Number(text) };
  throw new InvalidArgumentError('expected a sequence of the stream, a whole number from 1.');
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 1 to 99999.');
}

function parseBlock(text: string): bigint {
  if (/^(?:0|[1-9]\d{0,19})$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('expected the number of a block.');
}

function parseHttpAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('expected an http(s) address, such as http://127.0.0.1:8222.');
}

function parseTime(text: string): StreamPlace {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text);
  if (isTime && !Number.isNaN(Date.parse(text))) return { time: new Date(text) };
  throw new InvalidArgumentError('expected a time such as 2026-11-21 or 2026-11-21T12:00:00Z.');
}

function parsePlace(text: string): StreamPlace {
  return /^\d+$/.test(text) ? parseSequence(text) : parseTime(text);
}
