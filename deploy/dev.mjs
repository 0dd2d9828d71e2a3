// `npm run dev [-- COMMAND]`: compiles on every change, and restarts the program once it compiles without errors.
// The command is `local` unless another one is named. Ctrl-C stops the compiler and the program, and waits for both.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '..');
const command = process.argv.length > 2 ? process.argv.slice(2) : ['local'];
const program = ['--enable-source-maps', join(root, 'dist', 'deploy', 'miner.js'), ...command];

let running = null;
let restarting = null;
let isChangedAgain = false;
let isStopping = false;

// Both are in process groups of their own, so that a terminal's Ctrl-C reaches this script alone: the program takes a
// second signal as an order to end at once, without saving.
const compiler = spawn(
  join(root, 'node_modules', '.bin', 'tsc'),
  ['-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'],
  { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
);
createInterface({ input: compiler.stdout }).on('line', (line) => {
  console.log(line);
  if (line.includes('Found 0 errors.')) restart();
});
compiler.once('exit', (code) => {
  if (isStopping) return;
  console.error(`dev: the compiler ended with status ${code}`);
  stop(1);
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
  await end(running, (child) => child.kill('SIGTERM'));
  if (isStopping) return;
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
  await Promise.all([
    end(running, (child) => child.kill('SIGTERM')),
    // The compiler's command starts another process, so its whole group is meant.
    end(compiler, ({ pid }) => process.kill(-pid, 'SIGTERM')),
  ]);
  process.exit(status);
}

async function end(child, terminate) {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  terminate(child);
  await exited;
}
