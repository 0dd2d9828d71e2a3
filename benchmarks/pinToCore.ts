import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The command line that runs a program on one core (Linux's `taskset`); unchanged without a core. */
export function pinToCore(
  core: number | undefined,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  return core === undefined ? [...command] : ['taskset', '-c', String(core), ...command];
}

/**
 * Pins all threads of this process to one core, and later child processes that it does not pin elsewhere.
 *
 * @returns a function that restores its former cores.
 */
export function pinThisProcess(core: number): () => void {
  const [, allowed = ''] =
    /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  allowCores(String(core));
  return () => allowCores(allowed);
}

function allowCores(list: string) {
  const { status, stderr } = spawnSync('taskset', ['-a', '-c', '-p', list, String(process.pid)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`this process cannot be pinned to ${list}: ${stderr}`);
}
