import { resolve } from 'node:path';
import { startProcess, type TestProcess } from './childProcess.ts';

const program = resolve(import.meta.dirname, '../../../dist/deploy/miner.js');

/** Starts the built command line as an operator would. Of this process's environment it gets only PATH and TZ. */
export function startMinerCommand(args: readonly string[], environment: Record<string, string>): TestProcess {
  return startProcess(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, TZ: process.env.TZ, ...environment },
  });
}

/** Runs a command to its end, or for at most a minute: then it is killed, and has no status. */
export async function minerCommand(args: readonly string[], environment: Record<string, string>) {
  const run = startMinerCommand(args, environment);
  const ending = setTimeout(() => void run.end('SIGKILL'), 60_000);
  const status = await run.exited;
  clearTimeout(ending);
  return { status, output: run.output() };
}
