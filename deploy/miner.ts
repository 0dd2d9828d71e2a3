import { createRequire } from 'node:module';
import { Command } from 'commander';
import { variablesHelp } from './configuration.ts';
import { printOpenApi } from './printOpenApi.ts';
import { runDoctor } from './runDoctor.ts';
import { runIndexer } from './runIndexer.ts';
import { runLocal } from './runLocal.ts';
import { runService } from './runService.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

const program = new Command('miner')
  .description(
    'Mining Activity Read Service: publishes a wheel’s mining activity, read-only, as JSON over HTTP.',
  )
  .version(version)
  .addHelpText('after', `\n${variablesHelp()}\n`);

program
  .command('run')
  .description('ingest and serve in one process, and index where MINER_RPC_URL is set')
  .action(() => runService({ ingest: true, serve: true }));

program
  .command('ingest')
  .description('fold the streams and write ClickHouse; answers only on the operators’ port')
  .action(() => runService({ ingest: true, serve: false }));

program
  .command('serve')
  .description('a read replica: restores the newest snapshot, follows the streams, answers; writes nothing')
  .action(() => runService({ ingest: false, serve: true }));

program
  .command('index')
  .description('read the chain from MINER_RPC_URL and publish it to the streams; nothing else')
  .action(runIndexer);

program
  .command('local')
  .description(
    'the whole service on this machine, with a simulated wheel and economy (what `npm start` runs)',
  )
  .option('--past-days <days>', 'days of the simulated past', '8')
  .option('--past-interval <seconds>', 'seconds between two readings of the past, at most 120', '10')
  .action(runLocal);

program
  .command('doctor')
  .description('check every part and reconcile the counts; says for each failure what to do')
  .option('--quick', 'leave out what reads the whole counter stream')
  .action(runDoctor);

program
  .command('openapi')
  .description('print the OpenAPI 3.1 document of the public routes')
  .action(() => printOpenApi(process.stdout, version));

for (const command of program.commands) command.addHelpText('after', `\n${variablesHelp()}\n`);

await program.parseAsync();
