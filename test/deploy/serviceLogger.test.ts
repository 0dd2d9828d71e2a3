import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { serializeError } from '../../deploy/process/serviceLogger.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';

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

it('logs the texts of an error in short, whatever a node has answered', () => {
  const answer = 'x'.repeat(20_000_000);
  const inner = Object.assign(new Error(answer), { details: answer, code: -32_000 });
  const error = Object.assign(new Error(`failed: ${answer}`, { cause: inner }), {
    body: { params: [answer], all: Array.from({ length: 1_000 }, () => answer) },
  });
  const logged = JSON.stringify(serializeError(error));
  expect(logged.length).toBeLessThan(30_000);
  expect(logged).toContain('failed: xxx');
  expect(logged).toContain('serviceLogger.test.ts');
  expect(logged).toMatch(/… \(2\d{7} characters\)/);
});

it('logs whatever was thrown, and errors that lead back to themselves', () => {
  expect(['a text', null, { code: 5 }].map(serializeError)).toEqual(['a text', null, { code: 5 }]);
  const socket: Record<string, unknown> = { port: 80, hosts: ['a'] };
  socket.server = { socket };
  const error = Object.assign(new Error('refused'), { socket, chain: nest(100_000) });
  expect(serializeError(error)).toMatchObject({
    message: 'refused',
    socket: { port: 80, hosts: ['a'], server: { socket: '…' } },
  });
});

function nest(depth: number): object {
  let outer = {};
  for (let level = 0; level < depth; level++) outer = { inner: outer };
  return outer;
}
