import { Command, InvalidArgumentError, Option } from 'commander';
import { rejectionReasons } from '../actors/messages/rejectionReasons.ts';
import { type InputStreamName, inputStreamNames } from '../actors/messages/subjects.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { ReplayStart } from './commands/replay/replayPlan.ts';
import type { IndexerOptions } from './commands/runIndexer.ts';
import type { LocalOptions } from './commands/runLocal.ts';
import { variablesHelp } from './configuration/configuration.ts';
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
  .description('ingest and serve in one process, and index if MINER_RPC_URL is set')
  .action(() => runRoles({ ingest: true, serve: true }));

program
  .command('ingest')
  .description('fold the streams and write ClickHouse; answers only on the operators’ port')
  .action(() => runRoles({ ingest: true, serve: false }));

program
  .command('serve')
  .description(
    'run a read replica: restores the newest snapshot, follows the streams, answers; writes nothing',
  )
  .action(() => runRoles({ ingest: false, serve: true }));

program
  .command('index')
  .description('read the chain from MINER_RPC_URL and publish it to the streams')
  .option(
    '--from-block <block>',
    'publish again from this block on, replacing what was published before; then continue',
    parseBlock,
  )
  .action(async (options: IndexerOptions) => (await import('./commands/runIndexer.ts')).runIndexer(options));

program
  .command('local')
  .description(
    'run the whole service on this machine, with a simulated wheel and economy (as `npm start` does)',
  )
  .option('--past-days <days>', 'days of the simulated past', parseNumber(0, 30), 2)
  .option('--past-interval <seconds>', 'seconds between two readings of the past', parseNumber(1, 120), 10)
  .action(async (options: LocalOptions) => (await import('./commands/runLocal.ts')).runLocal(options));

program
  .command('replay')
  .description(
    'make the readings in ClickHouse again from the stream, or compare what is stored with the streams',
  )
  .option(
    '--from-sequence <sequence>',
    'first message whose rows are made again (default: the first)',
    parseSequence,
  )
  .addOption(
    new Option('--from-time <time>', 'or the first message stored at this time or later')
      .argParser(parseTime)
      .conflicts('fromSequence'),
  )
  .addOption(
    new Option(
      '--dry-run [stream]',
      'only compare: every stream, or one; exits with status 1 if anything differs',
    ).choices(inputStreamNames),
  )
  .addHelpText(
    'after',
    `
Messages are folded again from the newest saved state before the first one on, or from the oldest saved state if earlier messages have
left the stream, through the message of the newest saved state. That takes as long and as much room as the rows of these messages. The
new rows and state are compared with the current ones.

Without --dry-run, MINER_COUNTER is folded: readings, rounds, half-hour buckets and statistics. Then a running service continues with the
result by itself, or else the next one when it starts. Until then nothing changes for readers, and while it takes the result over,
statistics are answered with 503. A command that was stopped or killed has changed nothing, and begins again. The embedded ClickHouse
belongs to one process, so stop that service first.`,
  )
  .action(async ({ fromSequence, fromTime, dryRun = false }: ReplayOptions) => {
    const from = fromSequence ?? fromTime ?? null;
    const { runReplay } = await import('./commands/replay/runReplay.ts');
    if (dryRun === true && from !== null)
      return program.error('error: with a first message, --dry-run needs a stream: --dry-run MINER_COUNTER');
    const streams =
      dryRun === true ? inputStreamNames : [typeof dryRun === 'string' ? dryRun : ('MINER_COUNTER' as const)];
    return runReplay({ streams, from: from ?? { sequence: 1 }, dryRun: dryRun !== false });
  });

program
  .command('doctor')
  .description('check every part; names a remedy for each failure')
  .option(
    '--nats-monitoring <url>',
    'monitoring address of a nats-server, such as http://nats:8222, for its sync settings and free space',
    parseHttpAddress,
  )
  .action(async ({ natsMonitoring }: { readonly natsMonitoring?: string }) =>
    (await import('./commands/runDoctor.ts')).runDoctor(natsMonitoring ?? null),
  );

program
  .command('rejected')
  .description('list the newest rejected messages, and why')
  .option('--count <number>', 'maximum number of messages', parseCount, 20)
  .addOption(new Option('--reason <reason>', 'only messages with this reason').choices(rejectionReasons))
  .action(async ({ count, reason }: { readonly count: number; readonly reason?: string }) =>
    (await import('./commands/runRejected.ts')).runRejected({ count, reason: reason ?? null }),
  );

program
  .command('check-message')
  .description('check a message before it is published: prints `accepted`, or the reason why not')
  .argument('<subject>', 'such as miner.counter.my~wheel')
  .argument('[file]', 'file with the message; standard input by default')
  .addHelpText(
    'after',
    `
The check needs no running service. It applies every rule that a message can break by itself if it is stored now; it knows when
rounds begin and end, and the maximum speed, if MINER_DEPLOYMENT names the deployment file. It does not compare the message with earlier ones: that may still reject it as
duplicate, out_of_order, counter_regression or not_allowed. Limits on the number of installations and instances are not checked either,
and NATS drops a message ID that it has seen in the last two minutes.

Exit status: 0 accepted, 1 rejected, 2 not checked.`,
  )
  .action(async (subject: string, file: string | undefined) =>
    (await import('./commands/runCheckMessage.ts')).runCheckMessage({ subject, file: file ?? null }),
  );

program
  .command('openapi')
  .description('print the OpenAPI document of the public routes')
  .addOption(new Option('--spec <version>', 'version of OpenAPI').choices(['3.1', '3.0']).default('3.1'))
  .option('--url <url>', 'public address of the service, without a trailing slash', parseHttpAddress)
  .action(async ({ spec, url }: { readonly spec: string; readonly url?: string }) => {
    const { createOpenApiDocument } = await import('../http/routes/documentation/openApi.ts');
    const { toOpenApi30 } = await import('../http/routes/documentation/openApi30.ts');
    const document = createOpenApiDocument(url ?? null);
    const written = spec === '3.0' ? toOpenApi30(document) : document;
    process.stdout.write(`${JSON.stringify(written, null, 2)}\n`);
  });

for (const command of program.commands) command.addHelpText('after', `\n${variablesHelp()}\n`);

// Only this user may read files of this process and its servers.
process.umask(0o077);
try {
  await program.parseAsync();
} catch (error) {
  // Node itself would also print the source around it.
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}

interface ReplayOptions {
  readonly fromSequence?: ReplayStart;
  readonly fromTime?: ReplayStart;
  readonly dryRun?: InputStreamName | boolean;
}

/** Commands load their modules when they run, so help and usage errors come at once. */
async function runRoles(roles: ServiceSettings['roles']): Promise<void> {
  const { runService } = await import('./commands/runService.ts');
  await runService(roles);
}

function parseSequence(text: string): ReplayStart {
  if (/^[1-9]\d{0,14}$/.test(text)) return { sequence: Number(text) };
  throw new InvalidArgumentError('expected a sequence of the stream, a whole number from 1.');
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 1 to 99999.');
}

function parseNumber(least: number, greatest: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= least && value <= greatest) return value;
    throw new InvalidArgumentError(`expected a number from ${least} to ${greatest}.`);
  };
}

function parseBlock(text: string): bigint {
  if (/^(?:0|[1-9]\d{0,19})$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('expected the number of a block.');
}

function parseHttpAddress(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('expected an http(s) address, such as http://127.0.0.1:8222.');
}

function parseTime(text: string): ReplayStart {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text);
  if (isTime && !Number.isNaN(Date.parse(text))) return { time: new Date(text) };
  throw new InvalidArgumentError('expected a time such as 2026-11-21 or 2026-11-21T12:00:00Z.');
}
