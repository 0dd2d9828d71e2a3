// `npm run dev [-- COMMAND]`: builds on every change of the sources, and restarts the program once the build succeeds.
// The default command is `local`. Ctrl-C stops the program and waits for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { watch } from 'rolldown';
import { bundleOptions } from './build.mjs';

const root = resolve(import.meta.dirname, '../..');
const command = process.argv.length > 2 ? process.argv.slice(2) : ['local'];
const program = [
  '--max-semi-space-size=4',
  '--max-old-space-size=256',
  '--enable-source-maps',
  join(root, 'dist', 'deploy', 'miner.js'),
  ...command,
];

let running = null;
let isBuilt = false;
let isStopping = false;
/** One restart at a time. */
let restarted = Promise.resolve();

const bundler = watch(bundleOptions('deploy'));
bundler.on('event', async (event) => {
  if (event.code === 'START') isBuilt = true;
  if (event.code === 'ERROR') {
    isBuilt = false;
    console.error(`dev: the build failed, and the program runs on unchanged:\n${event.error.message}`);
  }
  if (event.code === 'BUNDLE_END') console.log(`dev: built in ${Math.round(event.duration)} ms`);
  if (event.code === 'END' && isBuilt) restarted = restarted.then(restart);
  if ('result' in event) await event.result.close();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);

async function restart() {
  await end();
  if (isStopping) return;
  // The program has its own process group, so that Ctrl-C reaches only this script. A second signal would end the program at once,
  // without saving.
  const started = spawn(process.execPath, program, { cwd: root, detached: true, stdio: 'inherit' });
  running = started;
  started.once('exit', (code, signal) => {
    if (!started.killed)
      console.error(
        `dev: the program ended with ${signal ?? `status ${code}`}; it is restarted after the next change`,
      );
  });
}

async function stop() {
  if (isStopping) return;
  isStopping = true;
  await restarted;
  await Promise.all([end(), bundler.close()]);
  process.exit(0);
}

async function end() {
  if (running === null || running.exitCode !== null || running.signalCode !== null) return;
  const exited = once(running, 'exit');
  running.kill('SIGTERM');
  await exited;
}
