import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const script = resolve(import.meta.dirname, '../../../deploy/createSecrets.mjs');

/**
 * Creates the secrets of a deployment in a folder, as an operator does.
 *
 * @returns the output.
 * @throws Error with the script's errors.
 */
export function createSecrets(folder: string, ...options: readonly string[]): string {
  return execFileSync(process.execPath, [script, ...options, folder], { encoding: 'utf8', stdio: 'pipe' });
}
