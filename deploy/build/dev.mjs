// `npm run dev [-- COMMAND]`: builds on every change of the sources, and restarts the program once the build succeeds.
// The default command is `local`. Ctrl-C stops the program and waits for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { watch } from 'rolldown';
import { bundleOptions } from './build.mjs';

const root = resolve(import.meta.dirname, '../..');
const command = process.argv.length > 2 ? process.argv.slice(2) : ['local'];
const program = ['--enable-source-maps', join(root, 'dist', 'deploy', 'miner.js'), ...command];

let running = null;
let restarting = null;
let isChangedAgain = false;
let isStopping = false;

const bundler = watch(bundleOptions('deploy'));
bundler.on('event', async (event) => {
  if (event.code === 'ERROR')
    console.error(`dev: the build failed, and the program runs on unchanged:\n${event.error.message}`);
  if (event.code === 'BUNDLE_END') {
    console.log(`dev: built in ${Math.round(event.duration)} ms`);
    restart();
  }
  if ('result' in event) await event.result.close();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));

/** One restart at a time; changes in the meantime cause one more. */
function restart() {
  isChangedAgain = restarting !== null;
  restarting ??= startAgain().finally(() => {
    restarting = null;
    if (isChangedAgain && !isStopping) restart();
  });
}

async function startAgain() {
  await end(running);
  if (isStopping) return;
  // The program has its own process group, so that Ctrl-C reaches only this script. A second signal would end the program at once,
  // without saving.
  const started = spawn(process.execPath, program, { cwd: root, detached: true, stdio: 'inherit' });
  running = started;
  started.once('exit', (code, signal) => {
    if (isStopping || restarting !== null || running !== started) return;
    console.error(
      `dev: the program ended with ${signal ?? `status ${code}`}; it is restarted after the next change`,
    );
  });
}

async function stop(status) {
  if (isStopping) return;
  isStopping = true;
  await restarting;
  await Promise.all([end(running), bundler.close()]);
  process.exit(status);
}

async function end(child) {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
