import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { serverPath } from './servers.ts';

/** Debian's packages of the programs that benchmarks start. */
const packages = {
  wrk: 'wrk',
  'nats-server': 'nats-server',
  taskset: 'util-linux',
} as const;
export type RequiredProgram = keyof typeof packages;

export class ProgramsMissing extends Error {
  override readonly name = 'ProgramsMissing';
}

/** @throws ProgramsMissing with the command that installs them. */
export function requirePrograms(programs: readonly RequiredProgram[], path = serverPath): void {
  const folders = path.split(delimiter);
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))));
  if (missing.length === 0) return;
  const install = [...new Set(missing.map((program) => packages[program]))].join(' ');
  throw new ProgramsMissing(
    `missing: ${missing.join(', ')}. Install with: sudo apt-get install --no-install-recommends ${install}`,
  );
}
