import { existsSync } from 'node:fs';

/** Of util-linux, which every Linux distribution for servers has. */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/**
 * A command whose process is asked to end when the one that starts it ends, however that happens: the kernel sends the signal (Linux), also after a
 * kill -9 of the parent. Elsewhere the command stays as it is.
 *
 * @returns the program, and its arguments.
 */
export function bindToParent(program: string, args: readonly string[]): [program: string, args: string[]] {
  if (process.platform !== 'linux' || setpriv === undefined) return [program, [...args]];
  return [setpriv, ['--pdeathsig', 'TERM', program, ...args]];
}
