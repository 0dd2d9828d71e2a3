import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startProcess } from '../support/processes/childProcess.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const program = resolve(import.meta.dirname, '../../dist/deploy/miner.js');

it('writes readable lines to a terminal', async () => {
  const nats = await startNats();
  const dataDir = temporaryDirectory();
  const command = `${process.execPath} ${program} run`;
  // Gives the program a terminal of its own; its arguments differ by system.
  const args =
    process.platform === 'darwin' ? ['-q', '/dev/null', 'sh', '-c', command] : ['-qec', command, '/dev/null'];
  const run = startProcess('script', args, {
    env: {
      PATH: process.env.PATH,
      MINER_HTTP_PORT: '0',
      MINER_OPS_PORT: '0',
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir),
    },
  });
  await run.written('listening');
  const [line = ''] = run
    .output()
    .split('\n')
    .filter((one) => one.includes('listening'));
  expect(line).toMatch(/^\[\d\d:\d\d:\d\d\] .*INFO/);
  expect(run.output()).not.toContain('"level"');
});
