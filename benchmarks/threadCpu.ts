import { readFileSync } from 'node:fs';

/**
 * CPU time in nanoseconds of the first thread of a process: the one that answers requests, in Node as in an nginx of one process. Unlike a rate
 * it hardly depends on what else runs on the machine.
 */
export function readThreadCpuNs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]);
}
