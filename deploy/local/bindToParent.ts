import { existsSync } from 'node:fs';

/** Part of util-linux, which every Linux distribution for servers has. */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/**
 * Wraps a command so that the kernel ends its process with its parent, also after kill -9 (Linux). Elsewhere the command stays
 * unchanged.
 *
 * @returns the program and its arguments.
 */
export function bindToParent(program: string, args: readonly string[]): [program: string, args: string[]] {
  if (process.platform !== 'linux' || setpriv === undefined) return [program, [...args]];
  return [setpriv, ['--pdeathsig', 'TERM', program, ...args]];
}
