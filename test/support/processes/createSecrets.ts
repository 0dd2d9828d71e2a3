import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const script = resolve(import.meta.dirname, '../../../deploy/createSecrets.mjs');

/**
 * Creates the secrets of a deployment in a folder, as an operator does: by a script next to it.
 *
 * @param folder with the name `secrets`.
 * @returns the output.
 * @throws Error with the script's errors.
 */
export function createSecrets(folder: string, ...options: readonly string[]): string {
  const copy = join(dirname(folder), 'createSecrets.mjs');
  copyFileSync(script, copy);
  return execFileSync(process.execPath, [copy, ...options], { encoding: 'utf8', stdio: 'pipe' });
}
